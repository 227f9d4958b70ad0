#include "experiments/report/chart.h"

namespace weft::experiments {

std::string chart_style() {
  return R"css(
:root{--paper:#fcfbf8;--panel:#ffffff;--ink:#20242b;--soft:#667085;--line:#e4e2dc;--accent:#2457a6;
--c0:#2463b4;--c1:#c2501d;--c2:#1b8457;--c3:#8a48b5;--c4:#a8790a;--c5:#0c8199;--c6:#bf366c;
--c7:#5d6d24;--c8:#6254cf;--c9:#80502f}
@media (prefers-color-scheme:dark){:root{--paper:#14171c;--panel:#1b1f26;--ink:#e7e9ee;
--soft:#98a2b3;--line:#2d333d;--accent:#8ab4ff;--c0:#6ea8ff;--c1:#ff9466;--c2:#55d19b;--c3:#cb9cf2;
--c4:#e5bd55;--c5:#56cfe4;--c6:#ff86b4;--c7:#b7ca6b;--c8:#ab9fff;--c9:#d8a27c}}
.chart{font:12px system-ui,"Segoe UI","Helvetica Neue",sans-serif;width:100%;height:auto;display:block}
.chart text{fill:var(--ink)}
.chart .tick{fill:var(--soft);font-size:11px}
.chart .name{fill:var(--soft);font-size:12px}
.chart .grid{stroke:var(--line)}
.chart .axis,.chart .notch{stroke:var(--soft)}
.chart .level{stroke:var(--soft);stroke-dasharray:2 4}
.chart .front{fill:none;stroke:var(--accent);stroke-width:8;stroke-opacity:.16;stroke-linejoin:round;
stroke-linecap:round}
.chart .line{fill:none;stroke:var(--c);stroke-width:1.8;stroke-linejoin:round}
.chart .band{fill:var(--c);fill-opacity:.13}
.chart .bar{stroke:var(--c);stroke-width:1.5}
.chart .lead{stroke:var(--c);stroke-opacity:.35}
.chart .mark{fill:var(--c);stroke:var(--panel);stroke-width:1}
.chart .label{fill:var(--c);font-weight:600;font-size:11.5px}
.chart:hover .series{opacity:.22}
.chart .series:hover{opacity:1}
.c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{--c:var(--c3)}.c4{--c:var(--c4)}
.c5{--c:var(--c5)}.c6{--c:var(--c6)}.c7{--c:var(--c7)}.c8{--c:var(--c8)}.c9{--c:var(--c9)}
)css";
}

}  // namespace weft::experiments
