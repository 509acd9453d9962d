"""Numbers as text, and tables in Markdown."""
from statistics import median, stdev

MISSING = "–"


def fraction(value, digits=4, sign=""):
    """With a real minus sign, and none for zero; `sign` "+" shows that of positive numbers."""
    if value is None:
        return MISSING
    text = f"{value:{sign}.{digits}f}"
    return text.lstrip("+-") if not float(text) else text.replace("-", "−")


def percent(value, digits=1, sign=""):
    return MISSING if value is None else fraction(100 * value, digits, sign)


def whole(value):
    return MISSING if value is None else f"{value:,}"


def spread(values, form):
    """The median and, of several values, the smallest and the largest."""
    text = form % median(values)
    if len(values) > 1:
        text += f" ({form % min(values)} to {form % max(values)})"
    return text


def mean_and_deviation(values, digits=1):
    """The mean and, of several values, the sample standard deviation: 48.6 ± 0.2."""
    text = fraction(sum(values) / len(values), digits)
    return f"{text} ± {fraction(stdev(values), digits)}" if len(values) > 1 else text


def markdown_table(head, rows, texts=1):
    """The first `texts` columns are aligned left, the others are numbers."""
    def line(cells):
        return "| " + " | ".join(str(cell).replace("|", r"\|") for cell in cells) + " |\n"

    marks = ["---"] * texts + ["---:"] * (len(head) - texts)
    return line(head) + "|" + "|".join(marks) + "|\n" + "".join(map(line, rows))


def print_table(head, rows, texts=1):
    print(markdown_table(head, rows, texts), flush=True)
