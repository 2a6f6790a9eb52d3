/* The keys of an event's members, and which one follows which.
 *
 * Events of one kind have the same keys in the same order, with the same spaces between. So the text from one
 * value to the next, `, "pid": `, is compared with those that followed the same keys before, and read only
 * where it is new. */

#ifndef TRACETUI_KEYS_H
#define TRACETUI_KEYS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "json.h"
#include "words.h"

#define LONGEST_STEP 40 /* bytes of text from one value to the next that are remembered */
#define MOST_STEPS 1024 /* that are remembered; the root is one of them */
#define MOST_SIBLINGS 8 /* after the same keys */

/* Keys of the members of an event, and of those of its args, that are asked for. */
#define EVENT_KEY_LIST(KEY) \
    KEY(PHASE, "ph") \
    KEY(TIME, "ts") \
    KEY(PROCESS, "pid") \
    KEY(THREAD, "tid") \
    KEY(NAME, "name") \
    KEY(CATEGORY, "cat") \
    KEY(DURATION, "dur") \
    KEY(ID, "id") \
    KEY(ARGS, "args")
#define ARG_KEY_LIST(KEY) \
    KEY(CONNECTION, "connection_id") \
    KEY(CORRELATION_ID, "correlation_id") \
    KEY(CORRELATION, "correlation") \
    KEY(PYTHON_ID, "Python id") \
    KEY(PYTHON_PARENT, "Python parent id") \
    KEY(TASK_TYPE, "Task Type") \
    KEY(KERNEL_TYPE, "type") \
    KEY(STACK, "Call stack") \
    KEY(MEMCPY_DIRECTION, "memcpy direction") \
    KEY(OPERATION, "operation") \
    KEY(SCOPED_NAME, "fullname") \
    KEY(MARK_TYPE, "event_type") \
    KEY(TASK_ID, "Task Id") \
    KEY(MODEL_ID, "Model Id") \
    KEY(BATCH_ID, "Batch Id") \
    KEY(SRC_RANK, "src rank") \
    KEY(DST_RANK, "dst rank") \
    KEY(SIZE_BYTES, "size(Byte)") \
    KEY(COUNT, "count") \
    KEY(TRANSPORT, "transport type") \
    KEY(LINK, "link type") \
    KEY(DATA_TYPE, "data_type") \
    KEY(ALGORITHM, "alg_type") \
    KEY(COLLECTIVE, "Collective name") \
    KEY(GROUP_NAME, "Process Group Name") \
    KEY(GROUP_RANKS, "Process Group Ranks") \
    KEY(GROUP_SIZE, "Group size") \
    KEY(SOURCE_RANK, "Src Rank") \
    KEY(TARGET_RANK, "Dst Rank") \
    KEY(ELEMENTS, "In msg nelems") \
    KEY(ELEMENT_TYPE, "dtype") \
    KEY(ALLOCATED_BYTES, "Bytes") \
    KEY(ADDRESS, "Addr") \
    KEY(TOTAL_ALLOCATED, "Total Allocated") \
    KEY(TOTAL_RESERVED, "Total Reserved") \
    KEY(DEVICE_ID, "Device Id")

#define KEY_NUMBER(number, text) number,
enum { EVENT_KEY_LIST(KEY_NUMBER) EVENT_KEYS };
enum { ARG_KEY_LIST(KEY_NUMBER) ARG_KEYS };
#define NO_KEY 255 /* nobody asks for it */

#define KEY_TEXT(number, text) {text, sizeof text - 1},
typedef struct {
    const char *text;
    size_t length;
} KeyText;
static const KeyText EVENT_KEY_TEXTS[] = {EVENT_KEY_LIST(KEY_TEXT)};
static const KeyText ARG_KEY_TEXTS[] = {ARG_KEY_LIST(KEY_TEXT)};

typedef enum { IN_EVENT, IN_ARGS, LEVELS } Level; /* the object that a key is of */

typedef struct {
    char text[LONGEST_STEP]; /* from the end of the value before to the start of the key's own */
    uint8_t length;
    uint8_t key, key_length; /* where in the text it is, with its quotes */
    uint8_t number;          /* one of EVENT_KEYS or ARG_KEYS, NO_KEY */
    uint16_t sibling;        /* another step after the same keys; 0: none */
    uint16_t next[LEVELS];   /* the first of the steps that follow, in either object */
} Step;

typedef struct {
    Step steps[MOST_STEPS]; /* the first is the root: the event has begun */
    uint16_t count;         /* of the others */
    Step *current;          /* the last one taken; NULL: the text is not one of those remembered */
} Steps;

typedef enum { UNUSUAL, MEMBER, CLOSED } Found; /* what follows in an object */

static uint8_t number_of_key(const Value *key, Level level) {
    const KeyText *texts = level == IN_ARGS ? ARG_KEY_TEXTS : EVENT_KEY_TEXTS;
    uint8_t count = level == IN_ARGS ? ARG_KEYS : EVENT_KEYS;
    for (uint8_t number = 0; number < count; number++)
        if (spells(key, texts[number].text, texts[number].length)) return number;
    return NO_KEY;
}

/* Remembers that this text, which ends before a value, follows the current step. */
static void add_step(Steps *steps, const char *start, const char *end, const Value *key, uint8_t number, Level level) {
    Step *before = steps->current;
    steps->current = NULL;
    if (!before || end - start > LONGEST_STEP || steps->count == MOST_STEPS - 1) return;
    int siblings = 0;
    for (uint16_t other = before->next[level]; other; other = steps->steps[other].sibling) siblings++;
    if (siblings == MOST_SIBLINGS) return;
    Step *step = &steps->steps[++steps->count];
    *step = (Step){
        .length = (uint8_t)(end - start),
        .key = (uint8_t)(key->start - start),
        .key_length = (uint8_t)(key->end - key->start),
        .number = number,
        .sibling = before->next[level],
    };
    memcpy(step->text, start, step->length);
    before->next[level] = steps->count;
    steps->current = step;
}

/* The same as `next_key` for a text that is not remembered. */
static Found read_new_key(Steps *steps, Cursor *cursor, Level level, bool opening, Value *key, uint8_t *number) {
    const char *start = cursor->at;
    bool ok = true, ascii = cursor->ascii;
    if (opening ? is_empty(cursor, '}') : !next_element(cursor, '}', &ok)) return ok ? CLOSED : UNUSUAL;
    cursor->ascii = true;
    if (!read_key(cursor, key)) return UNUSUAL;
    *number = number_of_key(key, level);
    if (cursor->ascii) add_step(steps, start, cursor->at, key, *number, level);
    else steps->current = NULL;
    cursor->ascii &= ascii;
    return MEMBER;
}

/* The next key of an object, from its bracket where that is `opening`, or else from the end of a value.
 *
 * The cursor is at the value of the key afterwards, or behind the object that is closed. */
static inline Found next_key(Steps *steps, Cursor *cursor, Level level, bool opening, Value *key, uint8_t *number) {
    const char *at = cursor->at;
    if (*at == '}' && !opening) {
        cursor->at++;
        return CLOSED;
    }
    Step *before = steps->current;
    if (before) {
        for (uint16_t *link = &before->next[level]; *link;) {
            Step *step = &steps->steps[*link];
            if (cursor->limit - at < step->length || !is_same(at, step->text, step->length)) {
                link = &step->sibling;
                continue;
            }
            uint16_t first = before->next[level], found = *link;
            if (found != first) { /* what was met last is tried first */
                *link = step->sibling;
                step->sibling = first;
                before->next[level] = found;
            }
            *key = (Value){at + step->key, at + step->key + step->key_length, '"', false};
            *number = step->number;
            cursor->at = at + step->length;
            skip_space(cursor);
            steps->current = step;
            return MEMBER;
        }
    }
    return read_new_key(steps, cursor, level, opening, key, number);
}

#endif
