"""Targets of several columns in the command: several outputs, and survival times with their events."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from bahsic import BAHSIC, hsic_scores, predictability
from bahsic.files import Data, DataError, read_data, write_table
from command import check_repeated, command, parsed, printed, run, write_frame

pandas = pytest.importorskip("pandas", reason="tables with names are read by pandas")

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(100, 5))
TIMES, CENSORING = RANDOM.exponential(np.exp(X[:, 1] - X[:, 0])), RANDOM.exponential(2.0, size=100)
EVENT, TIME = TIMES <= CENSORING, np.minimum(TIMES, CENSORING)
WEIGHT, SIDE = 2 * X[:, 2] + RANDOM.normal(size=100) / 5, np.where(X[:, 3] > 0, "left", "right")
FAST = ["-k", "2", "--kernel", "gaussian", "--criterion", "hsic"]


def frame(event=None):
    event = EVENT.astype(int) if event is None else event
    return pandas.DataFrame(X, columns=list("abcde")).assign(time=TIME, died=event, weight=WEIGHT, side=SIDE)


def survival(event=EVENT, time=TIME):
    y = np.zeros(len(time), dtype=[("died", bool), ("time", float)])
    y["died"], y["time"] = event, time
    return y


@pytest.fixture(autouse=True)
def _in_new_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.xlsx"])
@pytest.mark.parametrize("kind", [int, float, bool])
def test_events_are_read_from_every_kind_of_column(name, kind):
    write_frame(name, frame(EVENT.astype(kind)))
    data = read_data(name, "time", event="died", drop=["side"])
    assert data.names == ["a", "b", "c", "d", "e", "weight"]
    assert data.target == "time"
    assert data.y.dtype.names == ("died", "time")
    np.testing.assert_array_equal(data.y["died"], EVENT)
    np.testing.assert_allclose(data.y["time"], TIME, rtol=1e-15)


def test_survival_times_from_the_file_to_the_repeated_selection():
    pytest.importorskip("jinja2")
    write_frame("t.csv", frame())
    words = ["select", "t.csv", "--target", "time", "--event", "died", "--drop", "weight,side", *FAST]
    status, out, _ = run(*words, "--json", "--report", "t.html", "-o", "reduced.csv")
    assert status == 0
    result = json.loads(out)
    selector = BAHSIC(2).fit(X, survival())
    assert sorted(result["selected"]) == [list("abcde")[j] for j in selector.get_support(indices=True)] == ["a", "b"]
    assert result["path"][-1]["hsic"] == pytest.approx(selector.path_[-1].hsic)
    assert result["headline"] == "2 of 5 features selected for time"
    read = result["input"]
    assert (read["target"], read["target_kernel"], read["options"]["event"]) == ("time", "survival", "died")
    assert "--target time" in command(result).text
    check_repeated(result)
    assert "event=&#39;died&#39;" in Path("t.html").read_text(encoding="utf-8")
    reduced = pandas.read_csv("reduced.csv")
    assert list(reduced.columns) == [*result["selected"], "died", "time"]
    assert reduced["died"].dtype == int
    np.testing.assert_array_equal(reduced["died"], EVENT)
    np.testing.assert_array_equal(
        read_data("reduced.csv", "time", event="died").y, read_data("t.csv", "time", event="died").y
    )
    assert "target: survival times." in run(*words)[1]
    words = ["t.csv", "-t", "time", "--event", "died", "--drop", "weight,side"]
    scores = dict(zip("abcde", hsic_scores(X, survival())[0], strict=True))
    assert {row["feature"]: row["score"] for row in printed("rank", *words)["ranking"]} == pytest.approx(scores)
    found = printed("predictability", *words, "--x", "a,b")["predictability"]
    assert found == pytest.approx(predictability(X[:, :2], survival()))


def test_rows_without_an_event_or_a_time_are_left_out():
    table = frame().astype({"died": float})
    table.loc[3, "died"] = table.loc[5, "time"] = np.nan
    write_frame("t.csv", table)
    data, kept = read_data("t.csv", "time", event="died"), np.delete(np.arange(100), [3, 5])
    np.testing.assert_array_equal(data.y["died"], EVENT[kept])
    np.testing.assert_allclose([data.y["time"], data.X["a"]], [TIME[kept], X[kept, 0]], rtol=1e-15)
    assert data.notes == ("1 row without a target left out",) * 2


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.xlsx"])
def test_several_outputs_from_the_file_to_the_repeated_selection(name):
    write_frame(name, frame())
    options = ["-t", "weight", "--target", "side", "--drop", "time,died", "-o", "reduced.csv", "-q"]
    words = ["select", name, *options, *FAST]
    result = printed(*words)
    assert sorted(result["selected"]) == ["c", "d"]
    both = np.column_stack([WEIGHT.astype(object), SIDE])
    assert result["path"][-1]["hsic"] == pytest.approx(BAHSIC(2).fit(X, both).path_[-1].hsic)
    assert (result["input"]["target"], result["input"]["target_kernel"]) == (["weight", "side"], "multioutput")
    assert "--target weight --target side --drop time,died" in command(result).text
    check_repeated(result)
    reduced = pandas.read_csv("reduced.csv")
    assert list(reduced.columns) == [*result["selected"], "weight", "side"]
    assert reduced["side"].tolist() == SIDE.tolist()
    text = run(*words)[1]
    assert text.startswith("2 of 5 features selected for weight, side\n")
    assert "target: several outputs." in text


def test_numbers_beside_text_stay_numbers():
    write_frame("t.csv", frame())
    y = read_data("t.csv", ["side", "weight"]).y
    assert [type(value) for value in y[0]] == [str, float]
    assert y[:, 1].tolist() == pytest.approx(WEIGHT.tolist(), rel=1e-15)
    data = read_data("t.csv", ["weight", "died"], drop=["side", "time"])
    assert data.y.dtype == float
    np.testing.assert_allclose(data.y, np.column_stack([WEIGHT, EVENT]), rtol=1e-15)
    assert data.names == list("abcde")


def test_two_outputs_that_look_like_survival_are_told_of():
    write_frame("t.csv", frame())
    _, _, err = run("rank", "t.csv", "-t", "time", "-t", "died")
    assert err.startswith("bahsic: note: the target looks like survival times ")
    assert "--target-kernel survival treats it as censored times" in err
    assert run("rank", "t.csv", "-t", "time", "-t", "died", "--target-kernel", "multioutput")[2] == ""
    as_event = run("rank", "t.csv", "-t", "time", "--event", "died")
    assert run("rank", "t.csv", "-t", "time", "-t", "died", "--target-kernel", "survival") == as_event


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("-t time --event dies", "t.csv: no column for the event is called 'dies'; did you mean 'died'?"),
        ("-t time --event side", f"event 'side' has '{SIDE[0]}'; accepted: 0 and 1, or true and false"),
        ("-t died --event weight", "event 'weight' has '"),
        ("--event died", "event is 'died', with no target; accepted: one target, the time"),
        ("-t time -t weight --event died", "event is 'died', with 2 targets; accepted: one target, the time"),
        ("-t side --event died", "target 'side' has no numbers; accepted with an event: times"),
        ("-t time --event time", "'time' is given twice as target or event"),
        ("-t time -t side -t time", "'time' is given twice as target or event"),
        ("-t time --drop a,time", "'time' is a target or event and also dropped"),
        ("-t side -t time --drop time", "'time' is a target or event and also dropped"),
        ("-t time --event died --drop died", "'died' is a target or event and also dropped"),
        ("-t time --event died --target-kernel regression", "--event is for survival times, and --target-kernel is "),
        ("-t time --target-kernel survival", "--target-kernel survival needs the event as well as the time"),
        ("-t time --event died -o o.npz", ".npz holds one target, and there are several; write .csv or .parquet"),
        ("-t time -t side -o o.svmlight", ".svmlight holds one target, and there are several"),
        ("t.npz -t y -t z", "t.npz: .npz has one target and no event; accepted: a table with names, such as .csv"),
        ("t.npz --event z", "t.npz: .npz has one target and no event"),
        ("t.npy -t y -t z", "t.npy: .npy has one target and no event"),
        ("t.npy --event z", "t.npy: .npy has one target and no event"),
    ],
)
def test_misuse_is_told_in_one_line(words, told):
    write_frame("t.csv", frame())
    np.savez("t.npz", X)
    np.save("t.npy", X)
    name = [] if words.startswith("t.np") else ["t.csv"]
    status, out, err = run("select", *name, *words.split())
    assert (status, out, err.count("\n"), err[:15]) == (2, "", 1, "bahsic: error: ")
    assert told in err


def test_bad_survival_data_and_unknown_outputs():
    write_frame("t.csv", frame(np.zeros(100, dtype=int)))
    for words, told in (
        ("--event died", "the target has no event among 100 subjects; accepted: at least one that is not censored"),
        ("-t sides", "t.csv: no column is called 'sides'; did you mean 'side'?"),
    ):
        assert run("rank", "t.csv", "-t", "time", *words.split())[0::2] == (3, f"bahsic: error: {told}\n")
    with pytest.raises(DataError, match=r"^t.csv: 0 is among several targets; accepted: names of columns$"):
        read_data("t.csv", [0, "side"])


def test_a_table_of_several_targets_is_not_written_in_formats_of_one():
    for name, y in itertools.product(["t.npz", "t.mat", "t.svmlight"], [survival(), np.column_stack([TIME, WEIGHT])]):
        with pytest.raises(DataError, match="holds one target, and there are several"):
            write_table(name, Data(X, y), [0])


def test_targets_and_event_of_a_configuration(tmp_path):
    (tmp_path / "c.toml").write_text('target = ["weight", "side"]\nk = 2')
    assert parsed(["select", "t.csv", "--config", "c.toml"]).target == ["weight", "side"]
    for words in (["-t", "a", "--target", "b"], ["-ta", "--target=b"]):  # instead of those of the file
        assert parsed(["select", "t.csv", "--config", "c.toml", *words]).target == ["a", "b"]
    (tmp_path / "c.toml").write_text('t = "time"\nevent = "died"\ntarget-kernel = "survival"')
    options = parsed(["select", "t.csv", "--config", "c.toml", "-t", "weeks"])
    assert (options.target, options.event, options.target_kernel) == (["weeks"], "died", "survival")
