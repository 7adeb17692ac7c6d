"""The site in a real browser: no error on the console, nothing wider than the screen, sorting and filtering."""

import shutil

import pytest

from pucli.report.site import write_site
from tests.helpers import ROOT

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no chromium with its driver on this machine"),
]
PAGES = ("index.html", "tables/table-3.1.html", "methods/glpual.html", "methods.html", "ranks.html", "guide.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "results").mkdir()
    (folder / "results" / "table-3.1").symlink_to(ROOT / "results" / "table-3.1")
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
    yield driver
    driver.quit()


@pytest.mark.parametrize("page", PAGES)
def test_pages_load_cleanly_and_fit_the_screen(site, browser, page):
    for width in (400, 1400):
        browser.set_window_size(width, 900)
        browser.get((site / page).as_uri())
        wider = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.execute_script(wider) == 0, width
        assert browser.get_log("browser") == []


def test_sorting_and_filtering_by_the_keyboard_alone(site, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.get((site / "tables" / "table-3.1.html").as_uri())
    browser.find_element(By.CSS_SELECTOR, ".tools input").send_keys("glpual")
    heading = browser.find_elements(By.CSS_SELECTOR, "#every > thead th")[5]
    heading.find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
    rows = browser.execute_script(
        "return [...document.getElementById('every').tBodies[0].rows].filter(row => !row.hidden)"
        ".map(row => [row.dataset.words, row.cells[5].dataset.key])"
    )
    assert rows and all("glpual" in words for words, _ in rows)
    values = [float(value) for _, value in rows if value]
    assert values == sorted(values) and heading.get_attribute("aria-sort") == "ascending"
