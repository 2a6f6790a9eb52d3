/* The events of a text to columns, where all of them are as they should be.
 *
 * A block with anything unusual is refused as a whole, and read by `tracetui.reader.decode` and `extract`.
 * These say what an event means: what is taken here has to come out as they would have it. The text ends with
 * a NUL, at which every loop stops. */

#include "fields.h"

#include "columns.h"
#include "keys.h"
#include "numbering.h"
#include "read_leaves.h"
#include "scan_scheduler.h"
#include "sorted_search.h"

#define MOST_MEMBERS 64 /* of the args of an event */
#define LINK_END ((uint64_t)1 << 63)
#define PYTHON_ID_END ((uint64_t)1 << 31)
#define RANK_END ((uint64_t)1 << 31)
#define SIZE_END ((uint64_t)1 << 63)
#define TASK_END ((uint64_t)1 << 32)
#define BATCH_END ((uint64_t)1 << 31)

#ifndef TRACETUI_FINGERPRINT
#define TRACETUI_FINGERPRINT "" /* of all these sources, as `tracetui.reader.fingerprint` makes it */
#endif

typedef struct {
    Value key, value;
} Member;

typedef struct {
    Value values[EVENT_KEYS];
    uint8_t places[ARG_KEYS]; /* of each key of the args its place among the members, from 1 on; 0: none */
    uint64_t twice;           /* a bit for each key of the args that there is more than once */
    int count;                /* of the args' members */
    Member members[MOST_MEMBERS];
} Event;

typedef struct {
    PyObject_HEAD
    Numbering numberings[NUMBERINGS];
    Column columns[COLUMNS];
    int32_t events; /* in the columns */
    bool busy;      /* a thread is scanning, without the interpreter's lock */
    Steps steps;
    Event event;
} Scanner;

static bool read_args(Steps *steps, Cursor *cursor, Event *event) {
    Value *args = &event->values[ARGS];
    if (*cursor->at != '{') return read_value(cursor, args, 2);
    *args = (Value){cursor->at, NULL, '{', false};
    for (bool opening = true;; opening = false) {
        Member *member = &event->members[event->count];
        Value key;
        uint8_t number;
        Found found = next_key(steps, cursor, IN_ARGS, opening, &key, &number);
        if (found == CLOSED) break;
        if (found == UNUSUAL || event->count == MOST_MEMBERS) return false;
        member->key = key;
        if (!read_value(cursor, &member->value, 3)) return false;
        event->count++;
        if (number == NO_KEY) continue;
        if (event->places[number]) event->twice |= (uint64_t)1 << number;
        event->places[number] = (uint8_t)event->count;
    }
    args->end = cursor->at;
    return true;
}

static bool read_event(Steps *steps, Cursor *cursor, Event *event) {
    for (int key = 0; key < EVENT_KEYS; key++) event->values[key].type = 0;
    memset(event->places, 0, sizeof event->places);
    event->twice = 0;
    event->count = 0;
    if (*cursor->at != '{') return false;
    steps->current = steps->steps;
    for (bool opening = true;; opening = false) {
        Value key, other;
        uint8_t number;
        Found found = next_key(steps, cursor, IN_EVENT, opening, &key, &number);
        if (found == CLOSED) return true;
        if (found == UNUSUAL) return false;
        Value *value = number == NO_KEY ? &other : &event->values[number];
        if (number != NO_KEY && value->type) return false; /* a second one: which counts is not for here */
        if (number == ARGS ? !read_args(steps, cursor, event) : !read_value(cursor, value, 2)) return false;
    }
}

/* The member of the args with this key, false where there are two. */
static inline bool find(const Event *event, int key, Value *value) {
    int place = event->places[key];
    if (place) *value = event->members[place - 1].value;
    else value->type = 0;
    return !(event->twice >> key & 1);
}

static Piece piece_of(const Value *value) {
    return (Piece){value->start, (size_t)(value->end - value->start)};
}

/* What names an event or a thread: the empty string where it is missing. */
static bool named(const Value *value, Piece *piece) {
    *piece = value->type ? piece_of(value) : (Piece){"\"\"", 2};
    return !value->type || value->type == '"' || value->type == '0' || value->type == 'n';
}

/* `first`: the column of shapes; that of the times follows. */
static bool put_shape(Scanner *scanner, int first, bool with_name) {
    static const Value NOTHING = {0};
    const Event *event = &scanner->event;
    Piece pieces[4];
    int64_t time;
    if (!time_of(&event->values[TIME], &time)) return false;
    if (!named(&event->values[PROCESS], &pieces[0]) || !named(&event->values[THREAD], &pieces[1])) return false;
    if (!named(with_name ? &event->values[NAME] : &NOTHING, &pieces[2])) return false;
    if (!named(&event->values[CATEGORY], &pieces[3])) return false;
    int32_t shape = number_of(&scanner->numberings[SHAPES], pieces, 4);
    return shape >= 0 && put32(&scanner->columns[first], shape) && put64(&scanner->columns[first + 1], time);
}

/* The same of an event that can be asked for, whose number follows. */
static bool put_known(Scanner *scanner, int first, bool with_name) {
    return put_shape(scanner, first, with_name) && put32(&scanner->columns[first + 2], scanner->events);
}

/* The number of a text of the args, -1 where there is none. */
static bool put_text(Scanner *scanner, Column *column, const Value *value) {
    int32_t text = -1;
    if (value->type) {
        Piece piece;
        if (!named(value, &piece)) return false;
        text = number_of(&scanner->numberings[TEXTS], &piece, 1);
        if (text < 0) return false;
    }
    return put32(column, text);
}

/* What HCCL or c10d says of a collective, or HCCL of a part of one: a row for those that have such args. */
static bool put_hccl(Scanner *scanner) {
    static const int RANKS[][3] = {{SRC_RANK, DST_RANK, GROUP_SIZE}, {SOURCE_RANK, TARGET_RANK, GROUP_SIZE}};
    static const int SIZES[][2] = {{SIZE_BYTES, COUNT}, {SIZE_BYTES, ELEMENTS}};
    static const int TEXT_KEYS[][7] = {
        {TRANSPORT, LINK, DATA_TYPE, ALGORITHM, COLLECTIVE, GROUP_NAME, GROUP_RANKS},
        {TRANSPORT, LINK, ELEMENT_TYPE, ALGORITHM, COLLECTIVE, GROUP_NAME, GROUP_RANKS},
    };
    const Event *event = &scanner->event;
    Column *columns = scanner->columns;
    Value transport, dtype, collective, value;
    int64_t number;
    if (!find(event, TRANSPORT, &transport) || !find(event, DATA_TYPE, &dtype)) return false;
    if (!find(event, COLLECTIVE, &collective)) return false;
    if (!transport.type && !dtype.type && !collective.type) return true;
    const int writer = collective.type != 0; /* 1: c10d */
    if (!put32(&columns[HCCL_EVENT], scanner->events)) return false;
    for (int key = 0; key < 3; key++) {
        if (!find(event, RANKS[writer][key], &value) || !id_or_none_of(&value, RANK_END, &number)) return false;
        if (!put32(&columns[HCCL_SRC + key], (int32_t)number)) return false;
    }
    for (int key = 0; key < 2; key++) {
        if (!find(event, SIZES[writer][key], &value) || !id_or_none_of(&value, SIZE_END, &number)) return false;
        if (!put64(&columns[HCCL_SIZE + key], number)) return false;
    }
    for (int key = 0; key < 7; key++) {
        if (!find(event, TEXT_KEYS[writer][key], &value)) return false;
        if (!put_text(scanner, &columns[HCCL_TRANSPORT + key], &value)) return false;
    }
    return true;
}

/* The number of a task on its stream, with that of its batch above it: a row for those outside of models. */
static bool put_number(Scanner *scanner) {
    const Event *event = &scanner->event;
    Column *columns = scanner->columns;
    Value value;
    int64_t task, batch, model;
    if (!find(event, TASK_ID, &value) || !id_or_none_of(&value, TASK_END, &task)) return false;
    if (task < 0) return true;
    if (!find(event, MODEL_ID, &value) || !id_or_none_of(&value, LINK_END, &model)) return false;
    if (model >= 0) return true;
    if (!find(event, BATCH_ID, &value) || !id_or_none_of(&value, BATCH_END, &batch)) return false;
    if (batch > 0) task += batch << 32;
    return put32(&columns[NUMBERED_EVENT], scanner->events) && put64(&columns[NUMBERED_TASK], task);
}

/* What an allocator says of a block: a row for those instants that have such args. */
static bool put_memory(Scanner *scanner) {
    static const int NUMBERS[] = {ADDRESS, TOTAL_ALLOCATED, TOTAL_RESERVED};
    const Event *event = &scanner->event;
    Column *columns = scanner->columns;
    Value size, value;
    int64_t number;
    if (!find(event, ALLOCATED_BYTES, &size) || !find(event, NUMBERS[0], &value)) return false;
    if (!size.type || !value.type) return true;
    if (!put32(&columns[MEMORY_EVENT], scanner->events)) return false;
    for (int key = 0; key < 3; key++) {
        if (!find(event, NUMBERS[key], &value) || !id_or_none_of(&value, SIZE_END, &number)) return false;
        if (!put64(&columns[MEMORY_ADDRESS + key], number)) return false;
    }
    if (!find(event, DEVICE_ID, &value) || !id_or_none_of(&value, RANK_END, &number)) return false;
    return put32(&columns[MEMORY_DEVICE], (int32_t)number) && signed_of(&size, &number) &&
           put64(&columns[MEMORY_SIZE], number);
}

/* Calls an event by its scope, "Default/network/MatMul-op9", where its args tell that of "MatMul-op9". */
static bool put_in_scope(Event *event) {
    Value whole = {0};
    const Value *name = &event->values[NAME];
    if (!find(event, SCOPED_NAME, &whole)) return false;
    if (whole.type != '"' || name->type != '"') return true;
    if (whole.escaped || name->escaped) return false;
    ptrdiff_t length = name->end - name->start - 1; /* with one of the quotes */
    if (length < 2 || whole.end - whole.start < length + 2 || whole.end[-length - 1] != '/') return true;
    if (!memcmp(whole.end - length, name->start + 1, (size_t)length)) event->values[NAME] = whole;
    return true;
}

/* Gives a range of mstx, whose args tell its kind, the category that it has not. */
static bool put_mark(Event *event) {
    static const char CATEGORY_OF_MARKS[] = "\"mstx\"";
    static const char *const TYPES[] = {"marker", "push/pop", "start/end", "marker_ex"};
    Value type, *category = &event->values[CATEGORY];
    if (!find(event, MARK_TYPE, &type)) return false;
    bool has_category = category->type && category->type != 'n' && !spells(category, "", 0);
    if (has_category || type.type != '"') return true;
    if (type.escaped) return false;
    for (int kind = 0; kind < 4; kind++)
        if (spells(&type, TYPES[kind], strlen(TYPES[kind])))
            *category = (Value){CATEGORY_OF_MARKS, CATEGORY_OF_MARKS + sizeof CATEGORY_OF_MARKS - 1, '"', false};
    return true;
}

/* The type of a kernel of torch_npu's plugin of Kineto, "KERNEL_AICPU"; none where `type` means something else. */
static bool kernel_type_of(const Event *event, Value *type) {
    static const char BEGINNING[] = "\"KERNEL_";
    if (!find(event, KERNEL_TYPE, type)) return false;
    if (type->type == '"' && type->escaped) return false;
    const size_t length = sizeof BEGINNING - 1;
    bool is_long = type->type == '"' && type->end - type->start > (ptrdiff_t)length;
    bool is_kernel = is_long && !memcmp(type->start, BEGINNING, length) && type->start[length] >= 'A' &&
                     type->start[length] <= 'Z';
    if (!is_kernel) *type = (Value){0};
    return true;
}

/* `first`: SLICE_SHAPE or BEGIN_SHAPE; the other columns of a slice follow. */
static bool put_slice(Scanner *scanner, int first) {
    static const int LINKS[] = {CONNECTION, CORRELATION_ID, CORRELATION};
    Event *event = &scanner->event;
    Column *columns = scanner->columns + first - SLICE_SHAPE;
    int64_t duration = 0, correlation = -1, python_id = -1, python_parent = -1;
    Value task_type = {0}, stack = {0}, direction = {0}, value = {0};
    if (event->values[ARGS].type && event->values[ARGS].type != '{') return false;
    bool lasts = first == SLICE_SHAPE && event->values[DURATION].type;
    if (lasts && !duration_of(&event->values[DURATION], &duration)) return false;
    if (event->count) {
        for (int link = 0; link < 3 && correlation < 0; link++) {
            if (!find(event, LINKS[link], &value)) return false;
            if (!id_or_none_of(&value, LINK_END, &correlation)) return false;
        }
        if (!find(event, PYTHON_ID, &value)) return false;
        if (!id_or_none_of(&value, PYTHON_ID_END, &python_id)) return false;
        if (!find(event, PYTHON_PARENT, &value)) return false;
        if (!id_or_none_of(&value, PYTHON_ID_END, &python_parent)) return false;
        if (!find(event, TASK_TYPE, &task_type) || !find(event, STACK, &stack)) return false;
        if (!find(event, MEMCPY_DIRECTION, &direction)) return false;
        bool told = direction.type && direction.type != 'n';
        if (!told && !find(event, OPERATION, &direction)) return false;
        if (first == SLICE_SHAPE && !(task_type.type ? put_number : put_hccl)(scanner)) return false;
        if (!task_type.type && !kernel_type_of(event, &task_type)) return false;
        if (!put_in_scope(event) || !put_mark(event)) return false;
    }
    return put_known(scanner, first, true) && put64(&columns[SLICE_DUR], duration) &&
           put64(&columns[SLICE_CORRELATION], correlation) &&
           put_text(scanner, &columns[SLICE_TASK_TYPE], &task_type) &&
           put_text(scanner, &columns[SLICE_STACK], &stack) &&
           put_text(scanner, &columns[SLICE_DIRECTION], &direction) &&
           put32(&columns[SLICE_PYTHON_ID], (int32_t)python_id) &&
           put32(&columns[SLICE_PYTHON_PARENT], (int32_t)python_parent);
}

/* `phase`: as `tracetui.reader.events` numbers them. */
static bool put_flow(Scanner *scanner, int8_t phase) {
    const Value *id = &scanner->event.values[ID];
    int64_t number;
    if (!id_of(id, &number)) {
        Digits digits;
        bool whole = digits_of(id, &digits) && !digits.dotted;
        Piece piece = piece_of(id);
        if (id->type != '"' && !whole) return false;
        int32_t place = number_of(&scanner->numberings[FLOW_IDS], &piece, 1);
        if (place < 0) return false;
        number = -1 - (int64_t)place;
    }
    return put_shape(scanner, FLOW_SHAPE, false) && put8(&scanner->columns[FLOW_PHASE], phase) &&
           put64(&scanner->columns[FLOW_ID], number);
}

static bool put_counter(Scanner *scanner) {
    Event *event = &scanner->event;
    Piece pieces[3 + MOST_MEMBERS];
    int64_t time;
    if (!time_of(&event->values[TIME], &time)) return false;
    if (event->values[ARGS].type && event->values[ARGS].type != '{') return false;
    if (!named(&event->values[PROCESS], &pieces[0]) || !named(&event->values[THREAD], &pieces[1])) return false;
    if (!named(&event->values[NAME], &pieces[2])) return false;
    for (int number = 0; number < event->count; number++) {
        const Member *member = &event->members[number];
        double value;
        for (int before = 0; before < number; before++) {
            const Value *other = &event->members[before].key;
            if (spells(&member->key, other->start + 1, (size_t)(other->end - other->start - 2))) return false;
        }
        if (!float_of(&member->value, &value)) return false;
        if (!put_float(&scanner->columns[COUNTER_VALUE], value)) return false;
        pieces[3 + number] = piece_of(&member->key);
    }
    int32_t sample = number_of(&scanner->numberings[SAMPLES], pieces, 3 + (uint32_t)event->count);
    return sample >= 0 && put32(&scanner->columns[COUNTER_SAMPLE], sample) &&
           put64(&scanner->columns[COUNTER_TIME], time);
}

static bool put_event(Scanner *scanner) {
    const Value *phase = &scanner->event.values[PHASE];
    if (phase->type != '"' || phase->end - phase->start != 3) return false;
    switch (phase->start[1]) {
    case 'X':
        return put_slice(scanner, SLICE_SHAPE);
    case 'B':
        return put_slice(scanner, BEGIN_SHAPE);
    case 'E':
        return put_known(scanner, END_SHAPE, false);
    case 'C':
        return put_counter(scanner);
    case 's':
        return put_flow(scanner, 0);
    case 't':
        return put_flow(scanner, 1);
    case 'f':
        return put_flow(scanner, 2);
    case 'i':
    case 'I':
        return put_known(scanner, INSTANT_SHAPE, true) && put_memory(scanner);
    default:
        return false;
    }
}

static bool is_utf8(const char *text, Py_ssize_t length) {
    PyObject *decoded = PyUnicode_DecodeUTF8(text, length, "strict");
    if (!decoded) PyErr_Clear();
    Py_XDECREF(decoded);
    return decoded != NULL;
}

/* All elements up to `length`, separated by commas. `ascii`: whether all that was read is. */
static bool scan_text(Scanner *scanner, const char *text, Py_ssize_t length, Py_ssize_t whole, bool *ascii) {
    Cursor cursor = {text, text + whole, true};
    const char *end = text + length;
    for (;;) {
        skip_space(&cursor);
        if (!read_event(&scanner->steps, &cursor, &scanner->event) || !put_event(scanner)) return false;
        scanner->events++;
        if (cursor.at < end) skip_space(&cursor);
        if (cursor.at >= end) break;
        if (*cursor.at++ != ',') return false;
    }
    *ascii = cursor.ascii;
    return cursor.at == end;
}

/* What was numbered since this was asked: of each a list of its pieces as bytes. */
static PyObject *added(const Numbering *table) {
    PyObject *all = PyList_New(0);
    for (int32_t number = table->told; all && number < table->count; number++) {
        const Entry *entry = &table->entries[number];
        const char *at = table->arena + entry->start;
        PyObject *pieces = PyList_New(entry->pieces);
        for (uint32_t place = 0; pieces && place < entry->pieces; place++) {
            uint32_t length;
            memcpy(&length, at, sizeof length);
            at += sizeof length;
            PyObject *piece = PyBytes_FromStringAndSize(at, length);
            if (!piece || PyList_SetItem(pieces, place, piece) < 0) Py_CLEAR(pieces);
            at += length;
        }
        if (!pieces || PyList_Append(all, pieces) < 0) Py_CLEAR(all);
        Py_XDECREF(pieces);
    }
    return all;
}

/* Whether no other thread uses the scanner; else an exception is set. */
static bool is_free(const Scanner *scanner) {
    if (scanner->busy) PyErr_SetString(PyExc_RuntimeError, "the scanner is used by another thread");
    return !scanner->busy;
}

static bool set_item(PyObject *target, const char *name, PyObject *value) {
    bool ok = value && PyDict_SetItemString(target, name, value) == 0;
    Py_XDECREF(value);
    return ok;
}

#define COLUMN_ROW(number, name, dtype, counts) {name, dtype, counts},
#define NUMBERING_NAME(number, name) name,
static const struct {
    const char *name, *dtype, *counts;
} COLUMN_INFO[] = {COLUMN_LIST(COLUMN_ROW)};
static const char *const NUMBERING_NAMES[] = {NUMBERING_LIST(NUMBERING_NAME)};

static PyObject *take(PyObject *self, PyObject *Py_UNUSED(ignored)) {
    Scanner *scanner = (Scanner *)self;
    if (!is_free(scanner)) return NULL;
    PyObject *columns = PyDict_New(), *numbered = PyDict_New(), *result = NULL;
    bool ok = columns && numbered;
    for (int number = 0; ok && number < COLUMNS; number++) {
        const Column *column = &scanner->columns[number];
        if (!column->used) continue;
        PyObject *bytes = PyBytes_FromStringAndSize(column->bytes, (Py_ssize_t)column->used);
        ok = set_item(columns, COLUMN_INFO[number].name, bytes);
    }
    for (int number = 0; ok && number < NUMBERINGS; number++)
        ok = set_item(numbered, NUMBERING_NAMES[number], added(&scanner->numberings[number]));
    if (ok) result = PyTuple_Pack(2, columns, numbered);
    if (result) scanner->events = 0;
    for (int number = 0; result && number < COLUMNS; number++) scanner->columns[number].used = 0;
    for (int number = 0; result && number < NUMBERINGS; number++)
        scanner->numberings[number].told = scanner->numberings[number].count;
    Py_XDECREF(columns);
    Py_XDECREF(numbered);
    return result;
}

static PyObject *scan(PyObject *self, PyObject *args) {
    Scanner *scanner = (Scanner *)self;
    PyObject *text;
    Py_ssize_t length;
    if (!PyArg_ParseTuple(args, "Sn", &text, &length) || !is_free(scanner)) return NULL;
    if (length < 0 || length > PyBytes_Size(text) || PyBytes_Size(text) > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "length is not one of the text");
        return NULL;
    }
    for (int number = 0; number < COLUMNS; number++)
        scanner->columns[number].marked = scanner->columns[number].used;
    for (int number = 0; number < NUMBERINGS; number++)
        scanner->numberings[number].marked = scanner->numberings[number].count;
    int32_t events = scanner->events;
    const char *chars = PyBytes_AsString(text);
    Py_ssize_t whole = PyBytes_Size(text);
    bool ascii = true, ok;
    scanner->busy = true;
    Py_BEGIN_ALLOW_THREADS /* a frame of the viewer may be drawn meanwhile */
    ok = scan_text(scanner, chars, length, whole, &ascii);
    Py_END_ALLOW_THREADS
    scanner->busy = false;
    if (!ok || !(ascii || is_utf8(chars, length))) {
        for (int number = 0; number < COLUMNS; number++)
            scanner->columns[number].used = scanner->columns[number].marked;
        scanner->events = events;
        for (int number = 0; number < NUMBERINGS; number++) numbering_take_back(&scanner->numberings[number]);
        PyErr_Clear(); /* there was no memory: the decoder will say so, if there is none for it either */
    }
    return PyLong_FromLong(scanner->events - events);
}

static PyObject *new_scanner(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(keywords)) {
    unsigned long long seed, factor;
    if (!PyArg_ParseTuple(args, "KK", &seed, &factor)) return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Scanner *scanner = (Scanner *)allocate(type, 0);
    for (int number = 0; scanner && number < NUMBERINGS; number++) {
        scanner->numberings[number].seed = seed;
        scanner->numberings[number].factor = factor | 1;
    }
    return (PyObject *)scanner;
}

static void free_scanner(PyObject *self) {
    Scanner *scanner = (Scanner *)self;
    PyTypeObject *type = Py_TYPE(self);
    for (int number = 0; number < NUMBERINGS; number++) numbering_free(&scanner->numberings[number]);
    for (int number = 0; number < COLUMNS; number++) free(scanner->columns[number].bytes);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef METHODS[] = {
    {"scan", scan, METH_VARARGS, "Add the events before a length; how many, 0 where they are refused."},
    {"take", take, METH_NOARGS, "The columns of what was added since the last time, and what was numbered."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot SLOTS[] = {
    {Py_tp_doc, "Scans blocks of events; the numbers that it gives go on from one to the next."},
    {Py_tp_new, new_scanner},
    {Py_tp_dealloc, free_scanner},
    {Py_tp_methods, METHODS},
    {0, NULL},
};

static PyType_Spec SPEC = {
    .name = "_tracetui_scan.Scanner",
    .basicsize = sizeof(Scanner),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = SLOTS,
};

static PyMethodDef FUNCTIONS[] = {
    {"read_leaves", read_leaves, METH_VARARGS, "The rows of leaves of a table; None where they are refused."},
    {"scan_scheduler", scan_scheduler, METH_O, "The lines of a recording of the scheduler as columns."},
    {"searchsorted", searchsorted, METH_VARARGS, "Fill in the places of numbers among sorted ones."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_tracetui_scan", NULL, -1, FUNCTIONS, NULL, NULL, NULL, NULL,
};

/* Of each column its name: (dtype, what it counts). */
static PyObject *columns_of_scans(void) {
    PyObject *columns = PyDict_New();
    for (int number = 0; columns && number < COLUMNS; number++) {
        PyObject *meaning = Py_BuildValue("(ss)", COLUMN_INFO[number].dtype, COLUMN_INFO[number].counts);
        if (!set_item(columns, COLUMN_INFO[number].name, meaning)) Py_CLEAR(columns);
    }
    return columns;
}

/* Adds an object that is made for the module, and gives it away. */
static bool add(PyObject *module, const char *name, PyObject *value) {
    bool ok = module && value && PyModule_AddObject(module, name, value) == 0;
    if (!ok) Py_XDECREF(value);
    return ok;
}

PyMODINIT_FUNC PyInit__tracetui_scan(void) {
    PyObject *module = PyModule_Create(&MODULE);
    if (add(module, "Scanner", PyType_FromSpec(&SPEC)) && add(module, "COLUMNS", columns_of_scans()) &&
        PyModule_AddStringConstant(module, "FINGERPRINT", TRACETUI_FINGERPRINT) == 0)
        return module;
    Py_XDECREF(module);
    return NULL;
}
