"""Which texts of a screen are cut off or lie over each other, by their boxes."""

from __future__ import annotations

from browser.visitor import Visitor

# Looked at: every visible text outside of the canvases of tables. Not counted: what an ellipsis
# ends, what can be scrolled sideways, turned labels of charts (their boxes are larger than they
# are), and overlaps of a few pixels, which boxes of letters have and letters do not.
FAULTS = """() => {
  const texts = [];
  const clip = (each, box) => {
    let {left, top, right, bottom} = box, scrolls = false, cut = false;
    for (let at = each; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.display === 'inline' || style.overflow === 'visible') continue;
      const edge = at.getBoundingClientRect();
      if (['auto', 'scroll'].includes(style.overflowX)) scrolls = true;
      else if (!scrolls && (right > edge.right + 1 || left < edge.left - 1))
        cut = cut || style.textOverflow !== 'ellipsis';
      left = Math.max(left, edge.left); right = Math.min(right, edge.right);
      top = Math.max(top, edge.top); bottom = Math.min(bottom, edge.bottom);
    }
    return {left, top, right, bottom, cut, scrolls};
  };
  const app = document.querySelector('[data-testid="stApp"]');
  const walker = document.createTreeWalker(app, NodeFilter.SHOW_TEXT);
  for (let node; node = walker.nextNode();) {
    const each = node.parentElement, said = node.textContent.trim();
    if (!said || each.closest('canvas, style, script, title, option')) continue;
    if (!each.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    if (each.ownerSVGElement && Math.abs(each.getScreenCTM().b) > 0.01) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects())
      if (box.width > 2 && box.height > 4)
        texts.push({each, said: said.slice(0, 60), box, ...clip(each, box)});
  }
  const found = new Set();
  const seen = texts.filter(one => one.right - one.left > 3 && one.bottom - one.top > 4);
  for (const one of seen) {
    const outside = one.box.right > innerWidth + 1 || one.box.left < -1;
    if (one.cut || (outside && !one.scrolls)) found.add(`cut off: ${one.said}`);
  }
  seen.sort((one, other) => one.top - other.top);
  seen.forEach((one, place) => {
    for (const other of seen.slice(place + 1)) {
      if (other.top >= one.bottom) break;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (one.each !== other.each && across > 6 && down > 6)
        found.add(`overlapping: ${one.said} | ${other.said}`);
    }
  });
  return [...found];
}"""


def faults(visitor: Visitor) -> list[str]:
    """The faults of the screen that is shown; high enough a window shows the whole page."""
    return [str(one) for one in visitor.page.evaluate(FAULTS)]
