"""Data in: readers, builder and samples.

Start with `swiftcore.data.from_path.sandbox.build_path` (a path to a `Dataset`, read in a guarded
process), `inspect_path` beside it, `swiftcore.data.bundle.read_bundle` for bundles already built,
and `swiftcore.data.samples.load_sample`. Nothing is imported here, so that a program which only
needs a `Dataset` does not load every reader.
"""
