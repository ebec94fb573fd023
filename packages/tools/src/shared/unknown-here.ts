// Stands in for a value that a library gives to its tools and that Baton does not know at that place. A tool may pass it on. A tool that
// reads it fails, and the error says what to do.
import { BatonError } from '@baton/core'

export interface Missing {
  /** `the conversation (messages)` */
  readonly what: string
  readonly tool: string
  readonly hint: string
}

/** A list that throws when it is read. @throws BatonError `tool_failed`, later */
export function createUnreadList(missing: Missing): readonly never[] {
  return new Proxy<never[]>([], {
    get: (list, key) => {
      if (key === 'length' || key === Symbol.iterator || (typeof key === 'string' && isElement(key)))
        throw describe(missing)
      return Reflect.get(list, key) as unknown
    },
  })
}

/** @throws BatonError `tool_failed` */
export function refuseRead(missing: Missing): never {
  throw describe(missing)
}

function isElement(key: string): boolean {
  return /^\d+$/.test(key) || typeof Reflect.get(Array.prototype, key) === 'function'
}

function describe({ what, tool, hint }: Missing): BatonError {
  return new BatonError({ code: 'tool_failed', message: `"${tool}" reads ${what}, which it does not get`, hint })
}
