"""What `polyc verify` says of sizes that are fixed and large."""

from polyc.runtime import check


def test_what_fits_the_machine_is_run() -> None:
    assert check.too_large(check.LARGEST_BYTES, 10) is None


def test_more_than_the_machine_has_is_told_with_the_figures() -> None:
    problem = check.too_large(1 << 62, 10)
    assert problem is not None
    assert "its arrays have 4398046511104 MB" in problem


def test_too_much_work_is_told() -> None:
    assert check.too_large(8, 3 * check.LARGEST_WORK) == "6e+09 statement instances, where 2e+09 are the most"
