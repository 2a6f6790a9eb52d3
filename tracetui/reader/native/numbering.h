/* Numbers for texts in the order in which they are first met: a hash table of lists of pieces of text.
 */

#ifndef TRACETUI_NUMBERING_H
#define TRACETUI_NUMBERING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "words.h"

typedef struct {
    const char *start;
    size_t length;
} Piece;

typedef struct {
    uint64_t hash;
    size_t start;    /* in the arena: of each piece its length as uint32, and its bytes */
    uint32_t pieces;
} Entry;

typedef struct {
    Entry *entries;
    int32_t count, room;
    int32_t marked; /* of `count`: what is behind can be taken back */
    int32_t told;   /* of `count`: whose texts were handed out */
    int32_t last;   /* that was asked for: events of one kind come in runs */
    int32_t *slots; /* -1: empty */
    size_t slot_count; /* a power of two, more than twice `room` */
    char *arena;
    size_t used, arena_room;
    uint64_t seed, factor; /* secret: nobody can make a trace whose texts all have one hash */
} Numbering;

static inline uint64_t mixed(uint64_t one, uint64_t other) {
    unsigned __int128 product = (unsigned __int128)one * other;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hashed(const Numbering *table, const Piece *pieces, uint32_t count) {
    uint64_t hash = table->seed, lengths = count;
    for (uint32_t number = 0; number < count; number++) {
        const char *at = pieces[number].start;
        size_t left = pieces[number].length;
        lengths = (lengths << 16 | lengths >> 48) + left;
        for (; left > 16; left -= 16, at += 16)
            hash = mixed(hash ^ eight_at(at), table->factor ^ eight_at(at + 8));
        if (left > 8) hash = mixed(hash ^ eight_at(at), table->factor ^ eight_at(at + left - 8));
        else hash = mixed(hash ^ word_of(at, left), table->factor);
    }
    return mixed(hash ^ lengths, table->factor);
}

static inline bool is_entry(const Numbering *table, const Entry *entry, const Piece *pieces, uint32_t count) {
    if (entry->pieces != count) return false;
    const char *at = table->arena + entry->start;
    for (uint32_t number = 0; number < count; number++) {
        uint32_t length;
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        if (length != pieces[number].length || !is_same(at, pieces[number].start, length)) return false;
        at += length;
    }
    return true;
}

static bool numbering_grow(Numbering *table) {
    if (table->room > INT32_MAX / 2) return false;
    int32_t room = table->room ? table->room * 2 : 1024;
    size_t slot_count = (size_t)room * 4;
    Entry *entries = realloc(table->entries, (size_t)room * sizeof *entries);
    if (!entries) return false;
    table->entries = entries;
    int32_t *slots = malloc(slot_count * sizeof *slots);
    if (!slots) return false;
    memset(slots, 0xff, slot_count * sizeof *slots);
    for (int32_t number = 0; number < table->count; number++) {
        size_t slot = entries[number].hash & (slot_count - 1);
        while (slots[slot] >= 0) slot = (slot + 1) & (slot_count - 1);
        slots[slot] = number;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = slot_count;
    table->room = room;
    return true;
}

/* The number of a list of pieces, each below 4 GB; -1 where there is no memory for a new one. */
static inline int32_t number_of(Numbering *table, const Piece *pieces, uint32_t count) {
    if (table->count == table->room && !numbering_grow(table)) return -1;
    if (table->last < table->count && is_entry(table, &table->entries[table->last], pieces, count))
        return table->last;
    uint64_t hash = hashed(table, pieces, count);
    size_t slot = hash & (table->slot_count - 1);
    for (; table->slots[slot] >= 0; slot = (slot + 1) & (table->slot_count - 1)) {
        int32_t number = table->slots[slot];
        if (table->entries[number].hash == hash && is_entry(table, &table->entries[number], pieces, count))
            return table->last = number;
    }
    size_t needed = table->used;
    for (uint32_t number = 0; number < count; number++) needed += sizeof(uint32_t) + pieces[number].length;
    if (needed > table->arena_room) {
        size_t arena_room = needed * 2;
        char *arena = realloc(table->arena, arena_room);
        if (!arena) return -1;
        table->arena = arena;
        table->arena_room = arena_room;
    }
    table->entries[table->count] = (Entry){hash, table->used, count};
    for (uint32_t number = 0; number < count; number++) {
        uint32_t length = (uint32_t)pieces[number].length;
        memcpy(table->arena + table->used, &length, sizeof length);
        memcpy(table->arena + table->used + sizeof length, pieces[number].start, length);
        table->used += sizeof length + length;
    }
    table->slots[slot] = table->count;
    return table->last = table->count++;
}

/* Forget all that was added since the mark: the newest first, whose slot no other's was found by passing. */
static void numbering_take_back(Numbering *table) {
    while (table->count > table->marked) {
        Entry *entry = &table->entries[--table->count];
        size_t slot = entry->hash & (table->slot_count - 1);
        while (table->slots[slot] != table->count) slot = (slot + 1) & (table->slot_count - 1);
        table->slots[slot] = -1;
        table->used = entry->start;
    }
}

static void numbering_free(Numbering *table) {
    free(table->entries);
    free(table->slots);
    free(table->arena);
}

#endif
