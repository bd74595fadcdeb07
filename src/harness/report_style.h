// The style sheet of the report.
#pragma once

#include <string_view>

namespace covey::harness {

// Colours are told apart by people who see no red or green; each group also has its own stroke.
inline constexpr std::string_view kReportStyle = R"css(
:root { color-scheme: light dark; --paper: #fbfbfa; --card: #ffffff; --ink: #1c2430;
  --soft: #5b6675; --line: #e3e6ea; --axis: #9aa4b1; --consensus: #1466c9;
  --monolithic: #3f4a59; --isolated: #c2570c;
  --good: #1a7f4b; --bad: #b3261e; --area: 0.24;
  --s0: #0072b2; --s1: #c2570c; --s2: #00855f; --s3: #b2518a; --s4: #8a6700; --s5: #2b8fc4;
  --s6: #7a5195; --s7: #5b6675; --s8: #b3261e; --s9: #1a7f4b;
  --r0: #0d0887; --r1: #41049d; --r2: #6a00a8; --r3: #8f0da4; --r4: #b12a90; --r5: #c43e7f;
  --r6: #d7566c; --r7: #e07045; --r8: #d98a1c; --r9: #b39a00; }
@media screen and (prefers-color-scheme: dark) { :root { --paper: #12161c; --card: #1a2029;
  --ink: #e8ecf1; --soft: #9da8b6; --line: #2b333e; --axis: #657080;
  --consensus: #6cb0ff; --monolithic: #c9d1db;
  --isolated: #ff9d57; --good: #5ccf95; --bad: #ff8a80; --area: 0.32;
  --s0: #56b4e9; --s1: #ff9d57; --s2: #3ad6a8; --s3: #f0a3cf; --s4: #e6c14d; --s5: #9fd4ff;
  --s6: #c79bff; --s7: #aab4c0; --s8: #ff8a80; --s9: #5ccf95;
  --r0: #7f8bff; --r1: #9a7bff; --r2: #b46cff; --r3: #cf60e8; --r4: #e25fc0; --r5: #f06a98;
  --r6: #f88376; --r7: #fb9d58; --r8: #fdb94a; --r9: #f5d84a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system,
  "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 1060px; margin: 0 auto; padding: 40px 28px 56px; }
.eyebrow { color: var(--soft); font-size: 13px; letter-spacing: .08em; text-transform: uppercase;
  margin: 0; }
h1 { font-size: 30px; line-height: 1.2; margin: 4px 0 10px; }
h2 { font-size: 18px; margin: 40px 0 12px; }
.lead { font-size: 17px; max-width: 46em; margin: 0 0 26px; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(215px, 1fr)); gap: 12px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 14px 16px; }
.card b { display: block; font-size: 25px; line-height: 1.25; font-weight: 650;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
.card span { color: var(--soft); font-size: 13px; display: block; }
.card.first b { color: var(--consensus); }
.verdict { display: inline-block; border-radius: 999px; padding: 2px 12px; font-size: 14px;
  font-weight: 600;
  border: 1px solid currentColor; margin-bottom: 18px; }
.good { color: var(--good); } .bad { color: var(--bad); }
figure { background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin: 0;
  padding: 14px 10px 8px; }
figcaption { color: var(--soft); font-size: 13px; padding: 4px 12px 6px; }
svg { width: 100%; height: auto; display: block; }
svg text { font-size: 13px; }
.grid { stroke: var(--line); } .axis { stroke: var(--axis); }
.tie { stroke: var(--axis); stroke-width: .8; }
.tick { fill: var(--soft); font-variant-numeric: tabular-nums; } .label { fill: var(--soft); }
.name { font-weight: 600; }
.line { fill: none; stroke-width: 2.4; stroke-linejoin: round; stroke-linecap: round; }
.line.consensus { stroke: var(--consensus); }
.line.monolithic { stroke: var(--monolithic); stroke-dasharray: 7 5; }
.line.isolated { stroke: var(--isolated); stroke-dasharray: 1.5 5; stroke-width: 3; }
.area.consensus { fill: var(--consensus); fill-opacity: var(--area); }
.dot.consensus, .name.consensus { fill: var(--consensus); }
.dot.monolithic, .name.monolithic { fill: var(--monolithic); }
.dot.isolated, .name.isolated { fill: var(--isolated); }
.line.series { stroke: var(--c); } .area.series { fill: var(--c); fill-opacity: .14; }
.dot.series, .name.series { fill: var(--c); }
.s0 { --c: var(--s0); } .s1 { --c: var(--s1); } .s2 { --c: var(--s2); } .s3 { --c: var(--s3); }
.s4 { --c: var(--s4); } .s5 { --c: var(--s5); } .s6 { --c: var(--s6); } .s7 { --c: var(--s7); }
.s8 { --c: var(--s8); } .s9 { --c: var(--s9); }
.r0 { --c: var(--r0); } .r1 { --c: var(--r1); } .r2 { --c: var(--r2); } .r3 { --c: var(--r3); }
.r4 { --c: var(--r4); } .r5 { --c: var(--r5); } .r6 { --c: var(--r6); } .r7 { --c: var(--r7); }
.r8 { --c: var(--r8); } .r9 { --c: var(--r9); }
.line.s1, .line.s5 { stroke-dasharray: 8 4; } .line.s2, .line.s6 { stroke-dasharray: 3 4; }
.line.s3, .line.s7 { stroke-dasharray: 9 3 2 3; } .gap { height: 14px; }
.bar.arrived { fill: var(--consensus); } .bar.dropped { fill: var(--isolated); }
.bar.other { fill: var(--axis); } .name.plain { fill: var(--ink); }
.bar-label, .on-dot { fill: var(--card); font-weight: 600; } .bar-label { font-size: 12px; }
.edges { stroke: var(--axis); stroke-width: .9; opacity: .75; }
table.wide { font-size: 12.5px; } table.wide th, table.wide td { padding: 6px 6px; }
.dot { stroke: var(--card); stroke-width: 1.5; } .dot.open { fill-opacity: .55; }
.mean { stroke-width: 2; } .mean.consensus { stroke: var(--consensus); }
.mean.monolithic { stroke: var(--monolithic); }
.mean.isolated { stroke: var(--isolated); }
.scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--line);
  border-radius: 10px; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums;
  font-size: 14px; }
th, td { padding: 8px 14px; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
table.dense { font-size: 13px; } table.dense th, table.dense td { padding: 6px 9px; }
tr:last-child td { border-bottom: 0; }
th { color: var(--soft); font-weight: 600; font-size: 13px; } th.text, td.text { text-align: left; }
td b.consensus { color: var(--consensus); } td b.monolithic { color: var(--monolithic); }
td b.isolated { color: var(--isolated); }
.notes { border-left: 3px solid var(--isolated); padding: 2px 16px; margin: 24px 0 0; }
.notes p { margin: 6px 0; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: 0 28px;
  margin: 0; }
dl div { display: flex; justify-content: space-between; gap: 16px;
  border-bottom: 1px solid var(--line); padding: 6px 0; }
dt { color: var(--soft); flex: none; max-width: 80%; }
dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 14px 16px; margin: 0;
  font-size: 13px; white-space: pre-wrap; overflow-wrap: anywhere; }
footer { color: var(--soft); font-size: 13px; margin-top: 36px; }
table.wide th { white-space: normal; }
@media screen and (max-width: 1150px) { main { padding: 28px 14px 40px; }
  table.wide { font-size: 11.5px; } table.wide th, table.wide td { padding: 5px 4px; }
  table.wide th { font-size: 11px; } }
@media print { body { background: #fff; font-size: 12px; } main { max-width: none; padding: 0; }
  table, th { font-size: 10px; } th, td { padding: 4px 5px; } .card b { font-size: 17px; }
  table.dense, table.wide, .dense th, .wide th { font-size: 9px; }
  table.dense th, table.dense td, table.wide th, table.wide td { padding: 3px 4px; }
  .scroll { overflow: visible; border: 0; }
  figure, .card, tr, pre { break-inside: avoid; } h2 { break-after: avoid; }
  .cards { grid-template-columns: repeat(4, 1fr); } }
)css";

}  // namespace covey::harness
