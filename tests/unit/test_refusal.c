/* test_refusal.c - loading a corrupt file takes no more memory than its own size and 64
 * MiB.
 *
 * The files are of trainers that are much larger than what they have learned, so that
 * loading a good one takes hundreds of megabytes for which the file has no bytes. Then
 * every section in turn is removed, cut or overwritten, with correct checksums. The
 * library must notice before it allocates what such a file asks for. Every file is
 * loaded in its own process, and the kernel reports the peak size. */
#include "file/file.h"
#include "file/store_internal.h"
#include "train_fixture.h"

#include <sys/resource.h>
#include <sys/wait.h>

/* AddressSanitizer keeps freed memory for a while. */
enum { ALLOWED = (SANITIZED ? 128 : 64) << 20, SECTION_MAX = 8 << 20 };

static const char *const recipes[] = {
    "vocab=150000 dim=100 admission=none replay-ring=20000000",
    "profile=paper vocab=150000 dim=100 reservoir=10000000",
    "profile=incremental vocab=80000 dim=100 reservoir=10000000",
};

/* -- processes --------------------------------------------------------------------- */

typedef struct ending {
    int code;
    uint64_t bytes; /* peak */
} ending;

static ending in_a_process(int (*work)(const char *argument), const char *argument)
{
    struct rusage used;
    int status = -1;
    fflush(NULL);
    pid_t process = fork();
    assert_true(process >= 0);
    if (!process)
        _exit(work(argument));
    assert_true(wait4(process, &status, 0, &used) == process);
    assert_true(WIFEXITED(status));
    return (ending){WEXITSTATUS(status), (uint64_t)used.ru_maxrss * 1024};
}

static int do_nothing(const char *argument)
{
    return !argument;
}

static int make_good(const char *recipe)
{
    corpus text = demo_text(1, 30000);
    tide_trainer *trainer = trained(recipe, &text);
    save_to(trainer, "good");
    tide_trainer_free(trainer);
    free(text.bytes);
    return 0;
}

enum { ACCEPTED, REFUSED, BLAMED_WRONGLY };

static int load(const char *path)
{
    tide_error err = {0};
    tide_trainer *trainer = tide_trainer_load(path, NULL, 0, &err);
    tide_trainer_free(trainer);
    return trainer                           ? ACCEPTED
           : err.status == TIDE_ERROR_FORMAT ? REFUSED
                                             : BLAMED_WRONGLY;
}

/* -- harm -------------------------------------------------------------------------- */

typedef enum harm { LEFT_OUT, CUT, ONES, ONES_AT_THE_END, HARMS } harm;

static size_t hurt(unsigned char *bytes, size_t size, harm how)
{
    size_t some = size < 8 ? size : 8;
    if (how == ONES)
        memset(bytes, 0xff, some);
    if (how == ONES_AT_THE_END)
        memset(bytes + size - some, 0xff, some);
    return how == CUT && size ? size - 1 : size;
}

static void write_hurt(const tide_section_table *table, uint32_t victim, harm how)
{
    static unsigned char bytes[SECTION_MAX];
    tide_store *store = tide_store_open("good", NULL);
    tide_store_writer *writer = tide_store_create("hurt", NULL);
    assert_true(store && writer);
    for (uint32_t i = 0; i < table->count; i++) {
        const tide_section *s = &table->sections[i];
        size_t size = (size_t)s->size;
        assert_true(size <= SECTION_MAX);
        assert_int_equal(tide_store_read(store, s->name, bytes, size, NULL), TIDE_OK);
        if (i == victim && how == LEFT_OUT)
            continue;
        if (i == victim)
            size = hurt(bytes, size, how);
        tide_store_put(writer, s->name, bytes, size);
    }
    tide_store_close(store);
    assert_int_equal(tide_store_commit(writer, NULL), TIDE_OK);
}

static tide_section_table table_of(const char *path)
{
    tide_section_table table;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(tide_store_table(file, path, &table, NULL), TIDE_OK);
    close(file);
    return table;
}

/* -- tests ------------------------------------------------------------------------- */

static void a_refused_file_takes_little_memory(void **state)
{
    (void)state;
    for (size_t r = 0; r < (SANITIZED ? 1 : COUNT(recipes)); r++) {
        assert_int_equal(in_a_process(make_good, recipes[r]).code, 0);
        tide_section_table table = table_of("good");
        uint64_t most = in_a_process(do_nothing, "").bytes + table.length + ALLOWED;
        ending good = in_a_process(load, "good");
        assert_int_equal(good.code, ACCEPTED);
        assert_true(good.bytes > most); /* or the test would prove nothing */
        int refused = 0;
        for (uint32_t i = 0; i < table.count; i++) {
            for (harm how = LEFT_OUT; how < HARMS; how++) {
                write_hurt(&table, i, how);
                ending e = in_a_process(load, "hurt");
                if (e.code == BLAMED_WRONGLY || (e.code == REFUSED && e.bytes > most))
                    fail_msg("%s: section %s, harm %d: code %d, %ju bytes", recipes[r],
                             table.sections[i].name, (int)how, e.code,
                             (uintmax_t)e.bytes);
                refused += e.code == REFUSED;
            }
        }
        assert_true(refused > 2 * (int)table.count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_refused_file_takes_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
