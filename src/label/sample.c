/* sample.c - the posts of one label with the lowest priorities, as a heap of cells.
 *
 * Every post of the stream has a random priority. The k posts of a label with the
 * lowest priorities are a uniform sample of size k of all its posts, for every k (a
 * bottom-k sample; Cohen and Kaplan, "Summarizing data using bottom-k sketches", PODC
 * 2007). Dropping the posts with the highest priorities turns a sample into a smaller
 * one.
 *
 * So a sample only adds posts, removes the one with the highest priority, and is
 * cleared. A skew heap does this with two links per node and no other memory (Sleator
 * and Tarjan, "Self-adjusting heaps", SIAM J. Comput. 15(1), 1986): to merge two heaps,
 * merge their right spines and swap the children of every node passed. That costs
 * O(log k) amortized. The shape of the heap depends on its history, but is never
 * visible: lists are sorted.
 *
 * Equal priorities are all but impossible; the later post then counts as higher.
 */
#include "label/tracker.h"

static bool is_higher(const tide_posts *p, uint32_t a, uint32_t b)
{
    const tide_cell *x = &p->cells[a], *y = &p->cells[b];
    if (x->entry.priority != y->entry.priority)
        return x->entry.priority > y->entry.priority;
    return p->cells[x->entry.post].post.number > p->cells[y->entry.post].post.number;
}

static uint32_t merge(tide_posts *p, uint32_t a, uint32_t b)
{
    uint32_t root, *link = &root;
    while (a != TIDE_NO_CELL && b != TIDE_NO_CELL) {
        if (is_higher(p, b, a)) {
            uint32_t other = a;
            a = b;
            b = other;
        }
        tide_cell *node = &p->cells[a];
        uint32_t remaining = node->entry.right;
        node->entry.right = node->entry.left;
        *link = a;
        link = &node->entry.left;
        a = remaining;
    }
    *link = a != TIDE_NO_CELL ? a : b;
    return root;
}

bool tide_sample_accepts(const tide_posts *p, const tide_sample *s, uint64_t priority)
{
    if (s->kept < s->limit)
        return true;
    return s->kept > 0 && priority < p->cells[s->root].entry.priority;
}

bool tide_sample_contains(const tide_posts *p, const tide_sample *s, uint32_t post)
{
    const tide_cell *candidate = &p->cells[post];
    if (s->kept == 0 || candidate->post.number < s->since)
        return false;
    const tide_cell *last = &p->cells[s->root];
    if (candidate->post.priority != last->entry.priority)
        return candidate->post.priority < last->entry.priority;
    return candidate->post.number <= p->cells[last->entry.post].post.number;
}

void tide_sample_add(tide_posts *p, tide_sample *s, uint32_t post)
{
    uint32_t entry = tide_cell_alloc(p);
    p->cells[entry] =
        (tide_cell){.entry = {.priority = p->cells[post].post.priority, .post = post}};
    p->cells[post].post.refs++;
    s->root = merge(p, s->root, entry);
    s->kept++;
}

void tide_sample_remove_last(tide_posts *p, tide_sample *s)
{
    const tide_cell *last = &p->cells[s->root];
    uint32_t remaining = merge(p, last->entry.left, last->entry.right);
    tide_post_release(p, last->entry.post);
    tide_cell_free(p, s->root);
    s->root = remaining;
    s->kept--;
}

/* Rotates the heap until its root has no left child, which can then be freed. A heap
 * may be as deep as it is large, so there is no recursion. */
void tide_sample_clear(tide_posts *p, tide_sample *s)
{
    uint32_t root = s->root;
    while (root != TIDE_NO_CELL) {
        tide_cell *node = &p->cells[root];
        uint32_t left = node->entry.left, right = node->entry.right;
        if (left != TIDE_NO_CELL) {
            node->entry.left = p->cells[left].entry.right;
            p->cells[left].entry.right = root;
            root = left;
            continue;
        }
        tide_post_release(p, node->entry.post);
        tide_cell_free(p, root);
        root = right;
    }
    s->root = TIDE_NO_CELL;
    s->kept = 0;
}

/* -- lists ------------------------------------------------------------------------ */

static void sift_down(uint32_t *items, uint32_t at, uint32_t count, tide_before *before,
                      const void *context)
{
    uint32_t item = items[at];
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && before(context, items[child], items[child + 1]))
            child++;
        if (!before(context, item, items[child]))
            break;
        items[at] = items[child];
    }
    items[at] = item;
}

void tide_sort_indexes(uint32_t *items, uint32_t count, tide_before *before,
                       const void *context)
{
    for (uint32_t at = count / 2; at-- > 0;)
        sift_down(items, at, count, before, context);
    while (count > 1) {
        uint32_t last = items[0];
        items[0] = items[--count];
        items[count] = last;
        sift_down(items, 0, count, before, context);
    }
}

static bool is_lower(const void *posts, uint32_t a, uint32_t b)
{
    return is_higher(posts, b, a);
}

void tide_sample_list(const tide_posts *p, const tide_sample *s, uint32_t *posts)
{
    uint32_t found = 0;
    if (s->root != TIDE_NO_CELL)
        posts[found++] = s->root;
    for (uint32_t i = 0; i < found; i++) {
        const tide_cell *node = &p->cells[posts[i]];
        if (node->entry.left != TIDE_NO_CELL)
            posts[found++] = node->entry.left;
        if (node->entry.right != TIDE_NO_CELL)
            posts[found++] = node->entry.right;
    }
    tide_sort_indexes(posts, found, is_lower, p);
    for (uint32_t i = 0; i < found; i++)
        posts[i] = p->cells[posts[i]].entry.post;
}
