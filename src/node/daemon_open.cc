// Opening a daemon: data, what earlier lives left, the newest checkpoint.
#include <utility>

#include "covey/base/check.h"
#include "covey/log/log.h"
#include "covey/store/checkpoint.h"
#include "covey/store/safetensors.h"
#include "node/daemon_state.h"

namespace covey::node {
namespace {

CheckpointIdentity IdentityOf(const DaemonSettings& settings, const setup::Assembly& assembly) {
  CheckpointIdentity identity;
  identity.folder = settings.config.node.state_dir + "/checkpoints";
  identity.model = assembly.links.session.model;
  identity.model_summary = assembly.links.session.model_summary;
  identity.created_by = settings.software;
  identity.session = settings.identity.session;
  return identity;
}

learner::Scoreboard MakeScoreboard(const setup::Assembly& assembly) {
  return learner::Scoreboard(assembly.learner.model, assembly.data.train, assembly.data.validation,
                             assembly.data.test);
}

// What earlier lives have left in the journal.
void TakeSamples(Intake& intake, setup::NodeData& data) {
  auto kept = intake.TakeIfChanged();
  COVEY_CHECK(kept.has_value());
  data.train = std::move(kept->set);
  data.shard = std::move(kept->shard);
  data.validation = std::move(kept->validation);
}

}  // namespace

Daemon::State::State(DaemonSettings given, setup::Assembly assembled, std::unique_ptr<Intake> door)
    : settings(std::move(given)),
      assembly(std::move(assembled)),
      intake(std::move(door)),
      mailbox(clock, assembly.learner.consensus.fifo),
      publisher(clock, {settings.config, settings.software}, assembly.learner.model,
                assembly.data.train),
      evaluator(clock, MakeScoreboard(assembly)),
      checkpoints(clock, IdentityOf(settings, assembly), evaluator),
      peers(settings.config.node.state_dir + "/peers"),
      admissions(settings.config.node.state_dir + "/admissions"),
      learner(assembly, {clock, mailbox, outbox, evaluator, checkpoints},
              {.checkpoint_every = settings.config.train.checkpoint_every,
               .threads = settings.config.node.threads,
               .cpu_limit = settings.config.node.cpu_limit,
               .start_at = intake ? settings.config.data.live->start_at : 0}) {
  if (intake) intake_thread.emplace(*intake, *settings.config.data.live);
}

Result<std::unique_ptr<Daemon>> Daemon::Open(DaemonSettings settings) {
  auto assembly = setup::Assemble(settings.config, settings.identity);
  if (!assembly) return tl::unexpected(assembly.error());
  assembly->links.session.software = settings.software;
  assembly->links.session.allowed = settings.allowed;
  if (Status valid = learner::Validate(assembly->links); !valid) {
    return tl::unexpected(valid.error());
  }
  std::unique_ptr<Intake> intake;
  if (assembly->live) {
    auto opened = Intake::Open(settings.config, *assembly);
    if (!opened) return tl::unexpected(opened.error());
    intake = std::move(*opened);
    TakeSamples(*intake, assembly->data);
  }
  auto state =
      std::make_unique<State>(std::move(settings), std::move(*assembly), std::move(intake));
  if (Status opened = state->OpenRoster(); !opened) return tl::unexpected(opened.error());
  if (Status restored = state->Restore(); !restored) return tl::unexpected(restored.error());
  if (state->intake_thread) {
    if (Status made = state->intake_thread->Prepare(); !made) return tl::unexpected(made.error());
    state->assembly.data = {};  // other samples will take their place
  }
  return std::unique_ptr<Daemon>(new Daemon(std::move(state)));
}

Status Daemon::State::OpenRoster() {
  const config::FleetSettings& fleet = settings.config.fleet;
  const std::optional<membership::Invitation>& invitation = settings.invitation;
  if (invitation && invitation->issuer != fleet.operator_key) {
    return Fail(ErrorCode::kConfig, "fleet.operator_key",
                fleet.operator_key ? "is not that of the invitation, which is signed by " +
                                         invitation->issuer.Hex()
                                   : "is missing, so the invitation can't be checked",
                "when the operator says that this is the key, write `fleet: {operator_key: " +
                    invitation->issuer.Hex() + "}`");
  }
  if (!fleet.operator_key) return {};
  if (settings.config.security.mode == config::SecuritySettings::Mode::kNone) {
    return Fail(ErrorCode::kConfig, "fleet.operator_key",
                "keys prove nothing with security.mode: none", "use mode curve, or leave it out");
  }
  roster.emplace(*fleet.operator_key, fleet.name);
  if (Status loaded = admissions.Load(*roster); !loaded) return loaded;
  if (!invitation) return {};
  const auto taken = roster->Take(membership::Admit(*invitation, settings.identity.key));
  if (!taken) {
    const bool away = taken.error() == membership::Refusal::kRevoked;
    return Fail(
        ErrorCode::kConfig, "invitation", std::string(membership::Name(taken.error())),
        away ? "the operator has sent this node or its invitation away; ask for another one, "
               "and start with an empty state directory to have a new key"
             : "it has to be for the fleet " + fleet.name + "; ask the operator for another one");
  }
  admissions.Change(membership::FormatRoster(*roster));
  admissions.Save();
  return {};
}

Status Daemon::State::Restore() {
  const CheckpointIdentity identity = IdentityOf(settings, assembly);
  if (auto removed = store::RemoveTemporary(identity.folder); !removed) {
    return tl::unexpected(removed.error());
  }
  auto loaded = store::Load(identity.folder, {identity.model, identity.model_summary,
                                              assembly.links.session.vector_size});
  if (!loaded) return tl::unexpected(loaded.error());
  for (const store::Skipped& skipped : loaded->skipped) {
    log::Warning(log::Category::kStore, "passed over a checkpoint: " + skipped.reason.Format(),
                 {{"path", skipped.path}});
  }
  publisher.Restore();
  if (!loaded->checkpoint) return StartFromImport();
  store::Checkpoint& checkpoint = *loaded->checkpoint;
  if (checkpoint.best && checkpoint.best->x.size() > 0) {
    learner::Score best;
    best.epoch = checkpoint.best->epoch;
    best.batches = checkpoint.Counter("best.batches", 0);
    best.validation = {checkpoint.best->loss, checkpoint.best->accuracy,
                       assembly.data.validation.size()};
    evaluator.Restore(best,
                      std::make_shared<const tensor::FlatVector>(std::move(checkpoint.best->x)));
  }
  const std::uint64_t batches = checkpoint.batches;
  if (Status restored = learner.Restore(ToSaved(checkpoint)); !restored) return restored;
  checkpoints.Restored(loaded->path, batches);
  restored_from = loaded->path;
  log::Info(log::Category::kStore, "goes on from a checkpoint",
            {{"path", loaded->path}, {"batches", batches}});
  return {};
}

// A model that was imported stands in for the initial parameters.
Status Daemon::State::StartFromImport() {
  const std::string path = settings.config.node.state_dir + "/start.safetensors";
  auto x = store::ReadParameters(path, settings.config.model);
  if (!x && x.error().code == ErrorCode::kNoInput) return {};
  if (!x) return tl::unexpected(std::move(x.error()));
  learner::Saved saved = learner.Save();
  saved.x = std::move(*x);
  if (Status restored = learner.Restore(saved); !restored) return restored;
  restored_from = path;
  log::Info(log::Category::kStore, "starts from an imported model", {{"path", path}});
  return {};
}

}  // namespace covey::node
