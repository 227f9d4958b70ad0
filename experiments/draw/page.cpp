#include "experiments/draw/page.h"

#include "experiments/draw/markup.h"
#include "experiments/draw/paint.h"

namespace weft::experiments {
namespace {

const char* const page_style = R"css(
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,"Segoe UI","Helvetica Neue",sans-serif}
main{max-width:1240px;margin:0 auto;padding:2.5rem 1.5rem 5rem}
h1{font-size:2rem;line-height:1.2;margin:0 0 .3rem;letter-spacing:-.01em}
h2{font-size:1.35rem;margin:3.2rem 0 .8rem;padding-top:1rem;border-top:2px solid var(--ink)}
h3{font-size:1rem;margin:2rem 0 .5rem}
p{margin:.4rem 0;max-width:75ch}
.soft,figcaption,.remarks{color:var(--soft)}
.facts{display:flex;flex-wrap:wrap;gap:.4rem 1.6rem;color:var(--soft);font-size:.92rem;margin:.8rem 0}
.facts b{color:var(--ink)}
.answers{display:grid;grid-template-columns:repeat(auto-fit,minmax(280px,1fr));gap:1rem;margin:1.6rem 0}
.answer{background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:1rem 1.2rem}
.answer h3{margin:0 0 .4rem}
.answer p:first-of-type{font-weight:600}
.scroll{margin:.8rem 0;overflow-x:auto;border:1px solid var(--line);border-radius:10px;background:
linear-gradient(to right,var(--panel) 40%,transparent) left/3rem 100% no-repeat local,
linear-gradient(to left,var(--panel) 40%,transparent) right/3rem 100% no-repeat local,
linear-gradient(to right,var(--soft),transparent) left/.6rem 100% no-repeat scroll,
linear-gradient(to left,var(--soft),transparent) right/.6rem 100% no-repeat scroll,var(--panel)}
table{border-collapse:collapse;width:100%;font-size:.92rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.45rem .9rem;white-space:nowrap;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600}
tr:last-child td{border-bottom:0}
td:first-child{font-weight:600}
td.long{white-space:normal;min-width:18rem}
.remarks{font-size:.88rem;margin:.6rem .2rem}
.pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,380px),1fr));gap:1rem;
margin:1.4rem 0}
figure{margin:0;background:var(--panel);border:1px solid var(--line);border-radius:10px;padding:.9rem}
figcaption{font-size:.88rem;margin:0 0 .4rem}
img.sample{width:100%;max-width:22rem;image-rendering:pixelated;display:block;margin:auto}
code{font:.88em ui-monospace,"DejaVu Sans Mono",monospace;background:var(--line);padding:.1em .35em;
border-radius:4px}
details{margin-top:1.5rem}
summary{cursor:pointer;font-weight:600}
.bad{color:var(--c1);font-weight:600}
.good{color:var(--c2);font-weight:600}
pre{font:.85rem/1.45 ui-monospace,"DejaVu Sans Mono",monospace;white-space:pre-wrap;overflow-wrap:anywhere;
margin:.3rem 0;max-height:16rem;overflow:auto}
.maps{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,260px),1fr));gap:1rem;margin:1rem 0}
.maps figure{max-width:30rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(44%,250px),1fr));gap:.8rem;margin:1rem 0}
.tiles .head figcaption{margin:.4rem 0 0}
.read{font:.85rem/1.7 ui-monospace,"DejaVu Sans Mono",monospace;white-space:pre-wrap;
overflow-wrap:anywhere;margin:.6rem 0;color:var(--soft)}
.read b{color:var(--ink);margin-right:.6rem}
.key{position:relative;z-index:0;color:var(--ink);border-radius:3px}
.key::before{content:"";position:absolute;inset:0;background:var(--c);opacity:var(--w);z-index:-1;
border-radius:3px}
.lost main{opacity:.5}
.bar{height:.5rem;background:var(--line);border-radius:4px;overflow:hidden;margin:.4rem 0 1rem}
.bar div{height:100%;background:var(--accent)}
@media (max-width:600px){main{padding:1.2rem .7rem 3rem}h1{font-size:1.5rem}figure{padding:.5rem}
th,td{padding:.4rem .6rem}td:first-child{white-space:normal;min-width:7rem}}
)css";

}  // namespace

std::string html_page(const std::string& title, const std::string& body,
                      const std::string& script) {
  const std::string call =
      script.empty() ? "" : "<script src=\"" + escaped(script) + "\"></script>\n";
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
         "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
         "<link rel=\"icon\" href=\"data:,\"/>\n<title>" +
         escaped(title) + "</title>\n<style>" + picture_style() + page_style +
         "</style>\n</head>\n<body>\n<main>\n" + body + "</main>\n" + call + "</body>\n</html>\n";
}

std::string html_paragraph(const std::string& text) { return "<p>" + escaped(text) + "</p>\n"; }

std::string html_table(const Table& table) {
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (const std::string& cell : table.header) out += "<th>" + escaped(cell) + "</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (const std::string& cell : row)
      out += (cell.size() > 40 ? "<td class=\"long\">" : "<td>") + escaped(cell) + "</td>";
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (!table.remarks.empty()) out += "<div class=\"remarks\">";
  for (const std::string& remark : table.remarks) out += escaped(remark) + " ";
  return out + (table.remarks.empty() ? "" : "</div>\n");
}

std::string html_figure(const std::string& id, const std::string& caption,
                        const std::string& picture) {
  return "<figure id=\"" + escaped(id) + "\"><figcaption>" + escaped(caption) + "</figcaption>\n" +
         picture + "</figure>\n";
}

}  // namespace weft::experiments
