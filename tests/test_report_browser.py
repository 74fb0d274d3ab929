"""The report in a real browser: slider, sort, filter, and that it asks for nothing and complains of nothing."""

import json
import shutil
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("jinja2", reason="the report needs jinja2, of the extra `report`")
webdriver = pytest.importorskip("selenium.webdriver", reason="driving a browser needs selenium")

# After the lines above, which skip the file where a library is missing.
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from reporting import named, page_of, result_of, xor_result  # noqa: E402

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="no Chromium with its driver here (Debian: chromium, chromium-driver)"
)

HOSTILE = "</script><img src=x onerror=\"document.title='pwned'\">\u202e"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A page whose last feature has a hostile name."""
    result = xor_result()
    result["ranking"][-1]["feature"] = HOSTILE
    result["input"]["target"] = HOSTILE
    page = tmp_path_factory.mktemp("report") / "report.html"
    page.write_text(page_of(result), encoding="utf-8")
    return page


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, report):
    for log in ("browser", "performance"):  # what earlier tests left
        browser.get_log(log)
    browser.get(report.as_uri())
    return browser


def names(page, rows="#ranking tbody tr"):
    return [name.text for name in page.find_elements(By.CSS_SELECTOR, f"{rows} th bdi")]


def move(page, keys):
    page.find_element(By.ID, "size").send_keys(keys)


def test_no_complaint_no_request_no_injection(page, report):
    move(page, Keys.ARROW_RIGHT)
    assert page.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    requests = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert report.as_uri() in requests
    own = ("data:", "chrome:")  # the latter is the browser's first, empty tab
    assert [url for url in requests if url != report.as_uri() and not url.startswith(own)] == []
    assert page.find_elements(By.TAG_NAME, "img") == []
    assert page.title != "pwned"


def test_slider_moves_path_table_and_code(page):
    line = page.find_element(By.CSS_SELECTOR, ".chart.path .marker")
    start = float(line.get_attribute("x1"))
    assert names(page, "#ranking tr.selected") == ["x1", "x2"]
    move(page, Keys.ARROW_RIGHT * 3)
    assert float(line.get_attribute("x1")) > start
    assert names(page, "#ranking tr.selected") == names(page)[:5]
    python, shell = (code.text for code in page.find_elements(By.TAG_NAME, "code"))
    assert "n_features_to_select=5" in python
    assert " -k 5 " in shell
    assert page.find_element(By.ID, "size-output").text.startswith("5 features, HSIC ")


def test_slider_goes_back(page):
    before = page.find_element(By.TAG_NAME, "main").text
    move(page, Keys.END)
    assert len(names(page, "#ranking tr.selected")) == 22
    page.find_element(By.ID, "size-reset").send_keys(Keys.ENTER)
    assert page.find_element(By.TAG_NAME, "main").text == before
    assert page.switch_to.active_element.get_attribute("id") == "size"


def test_headings_sort_the_table(page):
    column = "#ranking tbody tr td[data-label^=HSIC]"
    page.find_element(By.XPATH, "//button[starts-with(., 'HSIC')]").send_keys(Keys.ENTER)
    values = [float(td.get_attribute("data-value")) for td in page.find_elements(By.CSS_SELECTOR, column)]
    assert values == sorted(values)
    assert len(page.find_elements(By.CSS_SELECTOR, "th[aria-sort=ascending]")) == 1
    page.find_element(By.XPATH, "//button[starts-with(., 'HSIC')]").send_keys(Keys.ENTER)
    values = [float(td.get_attribute("data-value")) for td in page.find_elements(By.CSS_SELECTOR, column)]
    assert values == sorted(values, reverse=True)


def test_filter_hides_the_other_features(page):
    page.find_element(By.ID, "filter").send_keys("X2")
    shown = [name for name in names(page) if name]
    assert sorted(shown) == ["x2", "x20", "x21", "x22"]
    assert page.find_element(By.ID, "filter-output").text == "4 of 22"


def test_first_tab_stop_skips_to_the_features(page):
    page.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    skip = page.switch_to.active_element
    assert skip.text == "Skip to the features"
    skip.send_keys(Keys.ENTER)
    assert page.switch_to.active_element.get_attribute("id") == "features"


def test_page_reads_without_script(page):
    command = "setScriptExecutionDisabled"
    with emulated(page, command, command, {"value": False}, value=True):
        page.refresh()
        assert names(page, "#ranking tr.selected") == ["x1", "x2"]
        assert not page.find_element(By.ID, "size-control").is_displayed()
        assert page.find_elements(By.CSS_SELECTOR, "#ranking button") == []


@contextmanager
def emulated(browser, command, undo, undone=None, **options):
    """Emulate a screen, a theme or a browser without script, for a while."""
    browser.execute_cdp_cmd(f"Emulation.{command}", options)
    try:
        yield
    finally:
        browser.execute_cdp_cmd(f"Emulation.{undo}", undone or {})


def screen(browser, width):
    options = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    return emulated(browser, "setDeviceMetricsOverride", "clearDeviceMetricsOverride", **options)


NAMES = ["marital-status", "concave points_mean", "a_name_of_28_letters_in_all", "WWWW-MMMM-WWWW-MMMM", "é"]

# Elements that reach out of the screen or hide a part of themselves, texts that reach out of their picture, and
# names that stand in two lines.
CUT_OFF = """
const found = [];
const width = document.documentElement.clientWidth;
for (const e of document.querySelectorAll("main *")) {
  const box = e.getBoundingClientRect();
  if (!box.width) continue;
  if (box.right > width + 0.5 || box.left < -0.5) found.push(["outside", e.outerHTML.slice(0, 80)]);
  const hidden = !e.closest("svg") && e.clientWidth && e.scrollWidth > e.clientWidth + 1;
  if (hidden) found.push(["hidden", e.outerHTML.slice(0, 80)]);
}
for (const e of document.querySelectorAll("svg text")) {
  const box = e.getBoundingClientRect(), frame = e.closest("svg").getBoundingClientRect();
  if (!box.width) continue;
  if (box.left < frame.left - 1 || box.right > frame.right + 1) found.push(["cut", e.textContent]);
}
for (const e of document.querySelectorAll(".name")) {
  const range = document.createRange();
  range.selectNodeContents(e);
  const lines = new Set(Array.from(range.getClientRects(), (r) => Math.round(r.top)));
  if (lines.size > 1) found.push(["broken", e.textContent]);
}
return found;
"""


@pytest.fixture(scope="module", params=["classes", "numbers"])
def wide_names(request, tmp_path_factory):
    """A page with pictures of all kinds, and names that want to break."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    X[:, 1] = np.round(X[:, 1])
    y = X[:, 0] + X[:, 1] + X[:, 2]
    classes = np.where(y > 0, ">50K & MORE MONEY", "<=50K")
    labels = classes if request.param == "classes" else y
    result = result_of({**named(X, NAMES), "Income-class": labels}, "Income-class", "-k", 4, "--stability", 2)
    page = tmp_path_factory.mktemp("wide") / "report.html"
    page.write_text(page_of(result), encoding="utf-8")
    return page


@pytest.mark.parametrize("width", [390, 700, 1280])
def test_nothing_is_cut_off_and_no_name_is_broken(browser, wide_names, width):
    with screen(browser, width):
        browser.get(wide_names.as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        browser.execute_script("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        assert browser.execute_script(CUT_OFF) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_of_pictures_stand_out_from_the_page(browser, wide_names, theme):
    features = [{"name": "prefers-color-scheme", "value": theme}]
    with emulated(browser, "setEmulatedMedia", "setEmulatedMedia", {"features": []}, features=features):
        browser.get(wide_names.as_uri())
        style = "return getComputedStyle(document.querySelector('{}')).{}"
        ink = browser.execute_script(style.format(".chart.small text.number", "fill"))
        paper = browser.execute_script(style.format("body", "backgroundColor"))
    assert contrast(ink, paper) > 4.5
    assert (luminance(paper) < 0.1) == (theme == "dark")


def luminance(colour):
    """Relative luminance of a colour such as rgb(1, 2, 3), by the definition of WCAG."""
    parts = [int(part) / 255 for part in colour.strip("rgba()").split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, two):
    low, high = sorted([luminance(one), luminance(two)])
    return (high + 0.05) / (low + 0.05)
