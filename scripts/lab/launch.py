"""Start one of Ironic's programs: launch.py PROGRAM ARGUMENTS…

Debian's python3-ironic holds the code of all programs; the packages that hold
their commands pull in much that a lab does not need.
"""
import importlib
import inspect
import sys

PROGRAMS = {
    "ironic": "singleprocess",
    "ironic-api": "api",
    "ironic-conductor": "conductor",
    "ironic-dbsync": "dbsync",
}


def program(name):
    module = PROGRAMS[name]
    try:
        return importlib.import_module("ironic.command." + module)  # since release 35
    except ModuleNotFoundError:
        return importlib.import_module("ironic.cmd." + module)


def mend_parent():
    """Keep a PATCHed node from becoming its own parent.

    Ironic 29.0.5-0+deb13u3 (its first patch for CVE-2026-44918) sets
    parent_node of every node that is PATCHed to the node itself: it then
    vanishes from node lists and cannot be powered off. Upstream has mended it.
    """
    from ironic.api.controllers.v1 import node, utils
    original = getattr(utils, "authorize_node_link_patch", None)
    if original is None or "parent_node.uuid != rpc_node.uuid" in inspect.getsource(node):
        return

    def only_if_asked(orig_node, patch, field_name):
        if field_name == "parent_node" and not utils.get_patch_values(patch, "/parent_node"):
            return None
        return original(orig_node, patch, field_name)

    utils.authorize_node_link_patch = only_if_asked


def mend():
    """Mend when the API starts: its controllers cannot be imported earlier."""
    from ironic.common import wsgi_service
    original = wsgi_service.WSGIService.__init__

    def init(self, *args, **kwargs):
        mend_parent()
        original(self, *args, **kwargs)

    wsgi_service.WSGIService.__init__ = init


name = sys.argv.pop(1)
sys.argv[0] = name
main = program(name)
if name in ("ironic", "ironic-api"):
    mend()
sys.exit(main.main())
