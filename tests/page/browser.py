"""What the tests do with a browser."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from .pages import Page


class Browser:
    def __init__(self, binary: str, driver: str) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = binary
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        self.folder = Path()

    def quit(self) -> None:
        self.driver.quit()

    def command(self, name: str, **values: Any) -> Any:
        """One of the browser's own commands (the DevTools protocol)."""
        return self.driver.execute_cdp_cmd(name, values)

    def fresh(self, folder: Path) -> None:
        self.folder = folder
        self.command("Emulation.setScriptExecutionDisabled", value=False)
        self.command("Emulation.setEmulatedMedia", media="", features=[])
        self.size(1280)
        self.driver.get("about:blank")
        self.command("Storage.clearDataForOrigin", origin="file://", storageTypes="all")
        self.logs("browser")
        self.logs("performance")

    def size(self, width: int, height: int = 900) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def prefer(self, scheme: str, media: str = "") -> None:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.command("Emulation.setEmulatedMedia", media=media, features=features)

    def open(self, page: Page) -> str:
        """Load a page from a file, and answer its address."""
        address = page.stored(self.folder)
        self.driver.get(address)
        return address

    def logs(self, kind: str) -> list[dict[str, Any]]:
        return list(self.driver.get_log(kind))

    def requests(self) -> list[str]:
        """The addresses that were asked for since the last time."""
        found = []
        for entry in self.logs("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return list(self.driver.find_elements("css selector", selector))

    def screenshot(self) -> bytes:
        return base64.b64decode(self.command("Page.captureScreenshot")["data"])
