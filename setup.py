"""The packages of the wheel: the demo web is one of them, as `crawler.demo`. Everything else is in pyproject.toml."""

from setuptools import find_packages, setup

setup(
    packages=[*find_packages(include=["crawler", "crawler.*"]), "crawler.demo"],
    package_dir={"crawler.demo": "demo"},
)
