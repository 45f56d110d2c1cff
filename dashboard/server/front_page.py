"""The one page of the server, and the headers that every answer carries."""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files
from pathlib import Path

from dashboard.text.wording import PAGES

PAGE_PATHS = {"/", *(f"/{name}" for name in PAGES)}
# Streamlit writes inline styles; scripts, fonts, images and sockets come from here only.
POLICY = (
    "default-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self' blob:",
    "frame-src 'none'",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
)
# What a page may ask of the machine: nothing of this list.
UNUSED_POWERS = (
    "accelerometer",
    "bluetooth",
    "camera",
    "display-capture",
    "geolocation",
    "gyroscope",
    "hid",
    "idle-detection",
    "local-fonts",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "publickey-credentials-get",
    "screen-wake-lock",
    "serial",
    "usb",
)
# Without this, a page opened by its link looks for the server under its own path first.
WHERE = '<script>window.__streamlit={BACKEND_BASE_URL:location.origin+"/"}</script>'

# A tab that nobody sees asks for news only at every fifteenth of its turns; the next turn after it
# is seen again is on time.
HIDDEN = """<script>(() => {
  const repeat = window.setInterval;
  window.setInterval = (act, wait, ...rest) => {
    if (typeof act !== "function" || wait < 1000 || wait > 10000) return repeat(act, wait, ...rest);
    let passed = 0;
    return repeat(() => {
      if (document.hidden && ++passed < 15) return;
      passed = 0;
      act(...rest);
    }, wait);
  };
})()</script>"""

# What is drawn before the style sheet of the pages has come would jump: the style sheet shows the
# frame. Should it not come, the frame is shown all the same after a while.
UNSTYLED = """<style>
[data-testid="stAppViewContainer"] { visibility: hidden; animation: shown 0s 4s forwards; }
@keyframes shown { to { visibility: visible; } }
</style>"""

# The keys of the page Review, which Streamlit cannot bind: 1, 2 and 3 choose a verdict unless
# somebody is typing; Ctrl+Enter saves from anywhere in the form, where a focused button would take
# the Enter for itself. The name field of the next phenotype is focused, without scrolling, and
# again if it loses the focus while the page is drawn, until a person presses something.
REVIEW_KEYS = """<script>(() => {
  const form = () => document.querySelector(".st-key-judgement");
  const isIn = (here, at) => at === document.body || here.contains(at);
  let last = null, wanted = false;
  addEventListener("pointerdown", () => { wanted = false; }, true);
  addEventListener("keydown", event => {
    const here = form(), at = event.target, held = event.ctrlKey || event.metaKey;
    wanted = false;
    if (!here || !isIn(here, at) || event.altKey || event.isComposing) return;
    if (event.key === "Enter" && held) {
      event.preventDefault();
      event.stopImmediatePropagation();
      at.blur();
      here.querySelector(".st-key-save button").click();
    } else if (/^[123]$/.test(event.key) && !held && !at.matches("input, textarea")) {
      event.preventDefault();
      here.querySelectorAll(".st-key-verdicts button")[event.key - 1].click();
    }
  }, true);
  new MutationObserver(() => {
    const here = form(), field = here && here.querySelector("input"), at = document.activeElement;
    const fresh = field !== last;
    if (fresh) [last, wanted] = [field, !!field];
    if (wanted && (fresh ? isIn(here, at) : at === document.body))
      field.focus({preventScroll: true});
  }).observe(document, {childList: true, subtree: true});
})()</script>"""


# Charts are drawn in the colours of the theme. When a person changes it, here or for the whole
# computer, the page is drawn again, as Streamlit's own key R does.
THEME = """<script>(() => {
  let last = "";
  setInterval(() => {
    const app = document.querySelector(".stApp");
    const now = app ? getComputedStyle(app).colorScheme : "";
    if (last && now && now !== last) document.body.dispatchEvent(
      new KeyboardEvent("keydown", {key: "r", code: "KeyR", keyCode: 82, bubbles: true})
    );
    last = now || last;
  }, 500);
})()</script>"""


def front_page() -> str:
    """Streamlit's page, with the address of its server, the habit of hidden tabs, and keys."""
    path = Path(str(files("streamlit"))) / "static" / "index.html"
    return path.read_text(encoding="utf-8").replace(
        "<head>", f"<head>{WHERE}{UNSTYLED}{HIDDEN}{THEME}{REVIEW_KEYS}", 1
    )


def safe_headers(page: str) -> dict[str, str]:
    """What every answer carries; the few inline scripts of the page are named by digest."""
    inline = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in inline]
    scripts = " ".join(
        ["script-src 'self' 'wasm-unsafe-eval'", *(f"'sha256-{digest}'" for digest in digests)]
    )
    return {
        "content-security-policy": "; ".join([*POLICY, scripts]),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": ", ".join(f"{power}=()" for power in UNUSED_POWERS),
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }
