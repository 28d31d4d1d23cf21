"""The demo web: a small web of the project's own, served on loopback, with every expected outcome beside its page.

In the repository this package is `demo`, in an installed wheel `crawler.demo`: its imports of itself are relative.
"""
