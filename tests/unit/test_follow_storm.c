/* test_follow_storm.c - each line of a file comes once, whatever happens to the file
 * and to its reader, all at random and at once. */
#include "base/base.h"
#include "follow_fixture.h"

#include <sys/wait.h>

/* A writer of numbered lines, whose writes end anywhere in a line. */
typedef struct writer {
    tide_rng rng;
    int file;
    bool renamed; /* the file has lost its name, but the writer does not know */
    bool dates;
    int rotations;
    int line;
    char waiting[4096]; /* the rest of lines that are not written yet */
    size_t waits;
    char *text; /* [TEXT_MAX], what a reader should find */
    size_t size;
    bool empty; /* nothing is written into this file */
} writer;

static void open_log(writer *w)
{
    if (w->file >= 0)
        close(w->file);
    w->file = open(in_folder("log"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_true(w->file >= 0);
    w->renamed = false;
    w->empty = true;
}

static writer new_writer(uint64_t seed)
{
    writer w = {.rng = tide_rng_seeded(seed), .file = -1, .dates = seed % 2};
    w.text = malloc(TEXT_MAX);
    open_log(&w);
    return w;
}

static void free_writer(writer *w)
{
    if (w->file >= 0)
        close(w->file);
    free(w->text);
}

static void write_piece(writer *w)
{
    size_t wanted = 1 + tide_rng_below(&w->rng, tide_rng_below(&w->rng, 4) ? 30 : 600);
    while (w->waits < wanted) {
        int length =
            (int)tide_rng_below(&w->rng, tide_rng_below(&w->rng, 8) ? 20 : 500);
        w->waits += (size_t)snprintf(w->waiting + w->waits, 600, "%d %0*d\n", w->line++,
                                     length, 7);
    }
    if (w->empty && w->size && w->text[w->size - 1] != '\n')
        w->text[w->size++] = '\n';
    assert_int_equal(write(w->file, w->waiting, wanted), wanted);
    memcpy(w->text + w->size, w->waiting, wanted);
    w->size += wanted;
    w->waits -= wanted;
    memmove(w->waiting, w->waiting + wanted, w->waits);
    w->empty = false;
}

/* Either log.1 becomes log.2 and so on, or the new name has a date. */
static void rotate(writer *w)
{
    char from[32], to[32];
    if (w->renamed)
        open_log(w);
    for (int i = w->rotations; i > 0 && !w->dates; i--) {
        snprintf(from, sizeof from, "log.%d", i);
        snprintf(to, sizeof to, "log.%d", i + 1);
        rename_to(from, to);
    }
    if (w->dates)
        snprintf(to, sizeof to, "log-2026%04d", w->rotations);
    rename_to("log", w->dates ? to : "log.1");
    w->rotations++;
    w->renamed = true;
}

static void write_or_rotate(writer *w)
{
    uint64_t what = tide_rng_below(&w->rng, 20);
    if (what < 1)
        rotate(w);
    else if (what < 5 && w->renamed)
        open_log(w);
    else
        write_piece(w);
}

/* All that is begun gets to its end. */
static void finish_writing(writer *w)
{
    if (w->renamed)
        open_log(w);
    do
        write_piece(w);
    while (w->text[w->size - 1] != '\n');
    close(w->file);
    w->file = -1;
}

static void read_or_die(reader *r, tide_rng *rng)
{
    uint64_t what = tide_rng_below(rng, 20);
    if (what < 1)
        go_back(r);
    else if (what < 6)
        save_place_before(r, tide_rng_below(rng, r->latest + 1));
    else
        read_some(r, 1 + tide_rng_below(rng, tide_rng_below(rng, 2) ? 40 : 1000), 0);
}

static void compare_or_fail(const reader *r, const writer *w, uint64_t seed)
{
    if (r->size != w->size || memcmp(r->text, w->text, w->size) != 0)
        fail_msg("seed %d: read %zu bytes of %zu", (int)seed, r->size, w->size);
}

static void run_model(uint64_t seed)
{
    writer w = new_writer(seed);
    reader r = new_reader();
    save_position(&r);
    for (int i = 0; i < 300; i++) {
        uint64_t writes = tide_rng_below(&w.rng, 8) ? 1 : 15;
        for (uint64_t k = 0; k < writes; k++)
            write_or_rotate(&w);
        for (uint64_t k = tide_rng_below(&w.rng, 4); k > 0; k--)
            read_or_die(&r, &w.rng);
    }
    finish_writing(&w);
    read_all(&r, 50);
    compare_or_fail(&r, &w, seed);
    free_reader(&r);
    free_writer(&w);
}

static void every_line_comes_once_whatever_happens(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        run_model(seed);
        leave_folder(NULL);
        assert_int_equal(enter_folder(NULL), 0);
    }
}

/* Writes in a process of its own; what it should have written comes back in a file. */
static pid_t write_from_child(writer *w)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    for (int i = 0; i < 1500; i++)
        write_or_rotate(w);
    finish_writing(w);
    FILE *all = fopen(in_folder("all.new"), "wb");
    fwrite(w->text, 1, w->size, all);
    fclose(all);
    rename_to("all.new", "all");
    _exit(0);
}

/* Files change while the directory is listed. */
static void every_line_comes_once_while_files_are_renamed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        writer w = new_writer(1000 + seed);
        reader r = new_reader();
        save_position(&r);
        pid_t child = write_from_child(&w);
        while (access(in_folder("all"), F_OK) != 0)
            read_or_die(&r, &w.rng);
        waitpid(child, NULL, 0);
        read_all(&r, 5000);
        FILE *all = fopen(in_folder("all"), "rb");
        w.size = fread(w.text, 1, TEXT_MAX, all);
        fclose(all);
        compare_or_fail(&r, &w, seed);
        free_reader(&r);
        free_writer(&w);
        leave_folder(NULL);
        assert_int_equal(enter_folder(NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(every_line_comes_once_whatever_happens),
        IN_FOLDER(every_line_comes_once_while_files_are_renamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
