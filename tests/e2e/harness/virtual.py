"""Virtual mode: the same seed gives the same summary but for times, another seed another one."""
import json

from tiny import check, folder, make, run

TIMED = ("wall_seconds", "samples_per_second", "pss_bytes_per_node")


def summary(here, *arguments):
    code, out, err = run(
        ["run", make(here), "--mode", "virtual", "--quiet", "--json", *arguments], here)
    check(code == 0, code, out, err)
    read = json.loads(out)
    for name in TIMED:
        del read[name]
    return read


with folder() as here:
    one = summary(here)
    check(one["mode"] == "virtual" and {"consensus", "monolithic", "isolated"} <= one.keys(), one)
    check(one == summary(here), "the same seed twice")
    other = summary(here, "--seed", "6")
    check(other["consensus"] != one["consensus"], "another seed")
    check(other["seed"] == 6, other)
    check(one["virtual_seconds"] > 0 and one["runs"][0]["crashes"] == 0, one)
    words = ["run", make(here), "--mode", "virtual"]
    code, out, err = run(words, here)
    check(code == 0 and "memory: about " in err and "virtual time " in out, code, out, err)
    code, out, err = run([*words, "--quiet"], here)
    check(code == 0 and err == "", code, err)
