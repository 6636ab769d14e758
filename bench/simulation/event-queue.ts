/** Something that happens at a time; `run` is undefined once it was called off. */
export interface TimedEvent {
  readonly at: number;
  /** Of events of one time, that which was planned first comes first. */
  readonly order: number;
  run: (() => void) | undefined;
}

/** Planned events, the next one first: a binary heap. */
export class EventQueue {
  readonly #heap: TimedEvent[] = [];
  #planned = 0;

  /** When the next event is; undefined where there is none. */
  get nextAt(): number | undefined {
    return this.#heap[0]?.at;
  }

  /** Plans an event. */
  add(at: number, run: () => void): TimedEvent {
    const event: TimedEvent = { at, order: this.#planned++, run };
    const heap = this.#heap;
    let place = heap.length;
    heap.push(event);
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || isBefore(parent, event)) break;
      heap[place] = parent;
      place = above;
    }
    heap[place] = event;
    return event;
  }

  /** Takes the next event out. */
  take(): TimedEvent | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;

    let place = 0;
    for (;;) {
      const child = this.#earlierChild(place);
      const below = heap[child];
      if (below === undefined || isBefore(last, below)) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = last;
    return first;
  }

  #earlierChild(place: number): number {
    const left = 2 * place + 1;
    const [one, other] = [this.#heap[left], this.#heap[left + 1]];
    return one !== undefined && other !== undefined && isBefore(other, one) ? left + 1 : left;
  }
}

function isBefore(one: TimedEvent, other: TimedEvent): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
