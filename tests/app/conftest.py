"""What the tests of the page share: a server of its own, and a browser."""

import re
import signal
import subprocess
import sys
import time

import pytest

PATIENCE = 120  # seconds until a page that should change is given up


class Server:
    """``ksupport app`` in a process of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ksupport_command", "app", "--no-browser"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment(folder),
        )  # fmt: skip
        self.address = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([\w-]{43})/", self.address)
        assert found, self.address or self.process.stderr.read()
        self.port, self.token = int(found[1]), found[2]
        wait_for(lambda: self.answers(), "the server answers")

    def answers(self):
        import urllib.request

        try:
            with urllib.request.urlopen(self.address) as answer:
                return answer.status == 200
        except OSError:
            return False

    def workers(self):
        """The processes that work for pages."""
        psutil = pytest.importorskip("psutil")
        return [
            each
            for each in psutil.Process(self.process.pid).children(recursive=True)
            if each.is_running() and each.status() != psutil.STATUS_ZOMBIE
        ]

    def files(self):
        """All that lies in its private folder."""
        return [path for path in self.folder.rglob("*") if path.is_file()]

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            return self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


def environment(folder):
    import os

    return {**os.environ, "TMPDIR": str(folder), "OMP_NUM_THREADS": "1"}


def wait_for(happened, what, patience=PATIENCE):
    """Look again until something is true, and give it back."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        if found := happened():
            return found
        time.sleep(0.05)
    pytest.fail(f"never happened: {what}")


@pytest.fixture(scope="session")
def start():
    """Starts another server, whose temporary files lie in this folder."""
    return Server


@pytest.fixture(scope="session")
def until():
    return wait_for


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    for package in ("shiny", "uvicorn", "typer", "rich"):
        pytest.importorskip(package)
    started = Server(tmp_path_factory.mktemp("temporary"))
    yield started
    started.end()


class Tab:
    """A page in a tab, used as a person would."""

    def __init__(self, browser, server):
        self.browser, self.server = browser, server
        browser.get(server.address)
        self.handle = browser.current_window_handle
        self.see("input#file")

    def all(self, selector):
        self.browser.switch_to.window(self.handle)
        return self.browser.find_elements("css selector", selector)

    def see(self, selector, containing=""):
        """Wait for an element, with this text in it."""

        def there():
            return next((text for text in self.texts(selector) if containing in text), None)

        return wait_for(lambda: there() is not None, f"{selector} with {containing!r}")

    def texts(self, selector):
        """Texts of elements, all at once: they may be redrawn at any time."""
        self.browser.switch_to.window(self.handle)
        script = "return [...document.querySelectorAll(arguments[0])].map(each => each.textContent)"
        return self.browser.execute_script(script, selector)

    def see_no_text(self, selector, containing):
        wait_for(
            lambda: not any(containing in text for text in self.texts(selector)),
            f"no {selector} with {containing!r}",
        )

    def click(self, selector, containing=""):
        """Click an element with this text, again if it was redrawn in that moment."""
        from selenium.common.exceptions import StaleElementReferenceException

        def clicked():
            try:
                found = [each for each in self.all(selector) if containing in each.text]
                if not found or not found[0].is_enabled():
                    return False
                script = "arguments[0].scrollIntoView({block: 'center'})"
                self.browser.execute_script(script, found[0])
                found[0].click()
            except StaleElementReferenceException:
                return False
            return True

        wait_for(clicked, f"a click on {selector} with {containing!r}")

    def drop(self, path, into="file"):
        self.see(f"input#{into}")
        self.all(f"input#{into}")[0].send_keys(str(path))

    def take(self, column, part):
        """Choose the part of a column in the head of the table."""
        from selenium.common.exceptions import StaleElementReferenceException
        from selenium.webdriver.support.ui import Select

        where = f'th select[data-column="{column}"]'

        def save_uploads():  # again if it was redrawn in that moment
            try:
                for each in self.all(where)[:1]:
                    Select(each).select_by_visible_text(part)
                    return True
            except StaleElementReferenceException:
                pass
            return False

        wait_for(save_uploads, f"{where} with {part!r}")
        script = "return document.querySelector(arguments[0])?.closest('th').className"
        chosen = f"part-{dict(map(reversed, self.options(where).items()))[part]}"
        wait_for(
            lambda: chosen in str(self.browser.execute_script(script, where)),
            f"{column} is {part}",
        )

    def options(self, selector):
        script = """return Object.fromEntries(
            [...document.querySelector(arguments[0]).options].map(each => [each.value, each.text])
        )"""
        return self.browser.execute_script(script, selector)

    def parts(self):
        """What each column that is shown is taken for."""
        script = """return Object.fromEntries([...document.querySelectorAll('th select')]
            .map(each => [each.dataset.column, each.selectedOptions[0].text]))"""
        self.browser.switch_to.window(self.handle)
        return self.browser.execute_script(script)

    def report(self):
        """The text of the report in the page."""
        self.see("iframe#report")
        self.browser.switch_to.window(self.handle)
        self.browser.switch_to.frame(self.all("iframe#report")[0])
        text = wait_for(
            lambda: self.browser.execute_script("return document.body.innerText"), "a report"
        )
        self.browser.switch_to.default_content()
        return text

    def fetch(self, selector):
        """What a link of the page gives."""
        import urllib.request

        (link,) = self.all(selector)
        with urllib.request.urlopen(link.get_attribute("href")) as answer:
            return answer.read().decode()

    def close(self):
        """Close the tab; another is in front then."""
        self.browser.switch_to.window(self.handle)
        self.browser.close()
        self.browser.switch_to.window(self.browser.window_handles[-1])


@pytest.fixture(scope="session")
def tab_of():
    """Opens the page of a server in the tab that is in front."""
    return Tab
