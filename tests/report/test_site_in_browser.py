"""The site in a real browser: console, width, dark, print, keyboard, sorting, filtering, accessibility (axe-core)."""

import shutil
from collections import defaultdict
from pathlib import Path

import pytest

from pucli.report.site import write_site
from tests.helpers import ROOT, by_night

selenium = pytest.importorskip("selenium", reason="selenium is not installed; pip install -e '.[browser]'")
axe_core = pytest.importorskip("axe_core_python", reason="axe-core is not installed; pip install -e '.[browser]'")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no chromium with its driver on this machine"),
]
# one of each kind, and the heaviest table
PAGES = (
    "index.html", "tables/table-3.1.html", "tables/table-3.3.html",
)  # fmt: skip
AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"], preload: false}).then(
  (found) => done(found.violations.map((v) => [v.impact, v.id, v.nodes.map((node) => node.html.slice(0, 120))])),
  (error) => done([["error", String(error), []]])
);
"""
# the height of a page when the pictures that are not folded are there
HEIGHT = """
const done = arguments[arguments.length - 1];
const images = [...document.images].filter((image) => image.checkVisibility());
images.forEach((image) => { image.loading = "eager"; });
Promise.allSettled(images.map((image) => image.decode())).then(() => done(document.documentElement.scrollHeight));
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "results").mkdir()
    for name in ("table-3.1", "table-3.3", "classtering-clustering", "safe-learning-curves"):
        (folder / "results" / name).symlink_to(ROOT / "results" / name)
    write_site(folder / "out", folder / "results")
    return folder / "out"


@pytest.fixture(scope="module")
def browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_script_timeout(300)
    yield driver
    driver.quit()


def look(browser, page, *, width=1400, dark=False, media=""):
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [scheme]})
    browser.set_window_size(width, 900)
    browser.get(page.as_uri())


@pytest.mark.parametrize("page", PAGES)
def test_pages_load_cleanly_and_fit_the_screen(site, browser, page):
    from selenium.webdriver.support.wait import WebDriverWait

    wider = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    for width in (400, 1400):
        look(browser, site / page, width=width)
        # a new width of the window takes a moment
        WebDriverWait(browser, 10).until(lambda shown: shown.execute_script(wider) == 0, message=f"{page} at {width}")
        assert browser.get_log("browser") == []


# by day without the heaviest table: its 4,000 cells are of the kinds of the other
@pytest.mark.parametrize("page", by_night(PAGES, by_day={*PAGES} - {"tables/table-3.3.html"}))
def test_axe_finds_no_serious_fault_in_light_and_dark(site, browser, page):
    axe = (Path(axe_core.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    for dark in (False, True) if "3.3" not in page else (False,):
        look(browser, site / page, width=400 if dark else 1400, dark=dark)
        browser.execute_script(axe)
        found = browser.execute_async_script(AXE)
        assert not [fault for fault in found if fault[0] not in ("minor", "moderate")], (page, dark, found)


# by day the heaviest pages of each kind: the others are made by the same templates of less
@pytest.mark.parametrize("most", by_night([4, None], by_day=[4]))
def test_pages_are_short(site, browser, most):
    by_kind = defaultdict(list)
    for page in sorted(site.rglob("*.html"), key=lambda page: page.stat().st_size, reverse=True):
        by_kind[page.parent].append(page)
    assert sum(map(len, by_kind.values())) == 5
    heights = {}
    for page in (page for pages in by_kind.values() for page in pages[:most]):
        look(browser, page)
        heights[page.relative_to(site)] = browser.execute_async_script(HEIGHT)
    assert {page: height for page, height in heights.items() if height > 6000} == {}


def test_sorting_and_filtering_by_the_keyboard_alone(site, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    look(browser, site / "tables" / "table-3.1.html")
    browser.find_element(By.CSS_SELECTOR, ".tools input").send_keys("glpual")
    heading = browser.find_elements(By.CSS_SELECTOR, "#every > thead th")[5]
    heading.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)

    def shown():
        return browser.execute_script(
            "return [...document.getElementById('every').tBodies[0].rows]"
            ".filter(row => getComputedStyle(row).display !== 'none')"
            ".map(row => [row.textContent.toLowerCase(), row.cells[5].dataset.key, row.dataset.verdict])"
        )

    rows = shown()
    assert rows and all("glpual" in words for words, _, _ in rows)
    values = [float(value) for _, value, _ in rows if value]
    assert values == sorted(values) and heading.get_attribute("aria-sort") == "ascending"
    heading.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    assert [float(value) for _, value, _ in shown() if value] == values[::-1]
    for label in browser.find_elements(By.CSS_SELECTOR, ".choice label"):
        if label.text.endswith("= reproduced"):
            label.find_element(By.TAG_NAME, "input").send_keys(Keys.SPACE)
    assert 0 < len(shown()) < len(rows) and {verdict for _, _, verdict in shown()} == {"reproduced"}
    assert browser.find_element(By.TAG_NAME, "output").text.startswith(f"{len(shown())} of ")


def test_the_note_of_a_figure_opens_by_the_keyboard(site, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    look(browser, site / "tables" / "table-3.3.html")
    browser.find_element(By.CSS_SELECTOR, "#every td details summary").send_keys(Keys.ENTER)
    assert browser.find_element(By.CSS_SELECTOR, "#every td details p").text


def test_print_leaves_out_what_only_a_screen_can_do(site, browser):
    from selenium.webdriver.common.by import By

    look(browser, site / "tables" / "table-3.1.html", media="print")
    assert not browser.find_element(By.TAG_NAME, "nav").is_displayed()
    assert not browser.find_element(By.CLASS_NAME, "tools").is_displayed()
    assert browser.find_element(By.ID, "every").is_displayed()


def test_a_figure_opens_in_full_size(site, browser):
    from selenium.webdriver.common.by import By

    look(browser, site / "tables" / "table-3.3.html")
    # followed, not clicked: the pictures are loaded late, and the link has no size before
    browser.get(browser.find_element(By.CSS_SELECTOR, "figure a").get_attribute("href"))
    assert browser.current_url.endswith("table-3.3/published.svg")
    assert browser.execute_script("return document.documentElement.tagName") == "svg"
    assert browser.get_log("browser") == []
