import { EventEmitter } from 'node:events';

const common = new Set([
  ...Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== 'toString'),
  ...Object.getOwnPropertyNames(EventEmitter.prototype),
  ...Object.getOwnPropertyNames(Function.prototype).filter((name) => name !== 'toString'),
  'prototype',
  'domain',
]);

/** The public members of an object, inherited ones too, without those of events and of functions. */
export function membersOf(object: object): readonly string[] {
  const found = new Set<string>();
  for (let one: object | null = object; one !== null; one = Object.getPrototypeOf(one) as object) {
    if (one === Object.prototype || one === Function.prototype) break;
    for (const name of Object.getOwnPropertyNames(one)) found.add(name);
  }
  return [...found].filter((name) => !name.startsWith('_') && !common.has(name)).toSorted();
}

/** The members that are methods. */
export function methodsOf(object: object): readonly string[] {
  return membersOf(object).filter((name) => typeof Reflect.get(object, name) === 'function');
}
