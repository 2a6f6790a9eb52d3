"""The style of a page: readable on a phone, on a desk and on paper, on light and dark grounds."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --dim: #667079; --paper: #ffffff; --card: #f5f7f9;
  --rule: #d9dfe4; --computing: #3b82c4; --communication: #d98a1f; --copies: #7a8b99; --idle: #d4483b;
  --host: #d4483b; --queue: #9258c8; --launch: #b0733a; --device: #6b7f92; --unlinked: #a3adb6; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8eb; --dim: #98a3ad; --paper: #14181b; --card: #1d2327; --rule: #39424a;
    --computing: #5aa0e0; --communication: #e6a248; --copies: #8899a6; --idle: #f0695c; --host: #f0695c;
    --queue: #b184e0; --launch: #cf9a66; --device: #8fa3b5; --unlinked: #69747d; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; color: var(--ink); background: var(--paper);
  font: 15px/1.5 system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.35rem; margin: 0 0 .25rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; border-top: 1px solid var(--rule); padding-top: 1rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p { margin: .25rem 0; }
ol, ul { padding-left: 1.4rem; }
.dim, footer, figcaption { color: var(--dim); }
.lead { font-size: 1.05rem; padding: .75rem 1rem; background: var(--card);
  border-left: 4px solid var(--idle); }
.doubt { border-left-color: var(--communication); margin-bottom: .5rem; }
.wide, figure { overflow-x: auto; margin: .5rem 0; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .15rem .6rem .15rem 0; border-bottom: 1px solid var(--rule); }
th { color: var(--dim); font-weight: 600; vertical-align: bottom; max-width: 9rem;
  overflow-wrap: normal; }
td { white-space: nowrap; }
.text { text-align: left; }
td.text { white-space: normal; min-width: 5rem; max-width: 34rem; }
tr.note td { white-space: normal; color: var(--dim); max-width: none; }
tr.note div { position: sticky; left: 0; width: fit-content; max-width: min(100vw - 2rem, 70rem);
  padding-left: 1rem; }
code, pre { font: .85rem/1.4 ui-monospace, monospace; }
pre { background: var(--card); padding: .5rem .75rem; overflow-x: auto; }
mark { color: inherit; background: color-mix(in srgb, var(--idle) 25%, transparent); }
svg { display: block; width: 100%; background: var(--card); }
.strip svg { height: 4.5rem; }
.map { display: grid; grid-template-columns: fit-content(45%) 1fr; gap: 1px .5rem; align-items: center; }
.map svg { height: 1rem; shape-rendering: crispEdges; }
.name, .scale, figcaption { font-size: .8rem; line-height: 1.2; }
.name { text-align: right; }
.scale { display: flex; justify-content: space-between; gap: .5rem; color: var(--dim); }
.key { display: inline-block; width: .7rem; height: .7rem; margin-right: .3rem; }
.what { white-space: nowrap; margin-right: .8rem; }
.computing { background: var(--computing); fill: var(--computing); }
.communication { background: var(--communication); fill: var(--communication); }
.copies { background: var(--copies); fill: var(--copies); }
.idle { background: var(--idle); fill: var(--idle); }
.host { background: var(--host); fill: var(--host); }
.queue { background: var(--queue); fill: var(--queue); }
.launch { background: var(--launch); fill: var(--launch); }
.device { background: var(--device); fill: var(--device); }
.unlinked { background: var(--unlinked); fill: var(--unlinked); }
@page { size: A4 landscape; margin: 12mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 11px; }
  h1 { font-size: 1.35em; }
  h2, h3 { break-after: avoid; }
  tr, figure { break-inside: avoid; }
  svg, .key, mark, .lead { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .wide, pre { overflow: visible; }
  pre { white-space: pre-wrap; }
  table { font-size: 8.5px; }
  th, td { padding-right: .35rem; }
  th { max-width: 4.5rem; }
  tr.note div { position: static; } }
"""
