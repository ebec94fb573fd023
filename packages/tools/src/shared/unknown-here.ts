// Placeholder for a value that a library passes to its tools but Baton does not have at that point. A tool may pass it
// on; reading it throws an error that says what to do.
import { BatonError } from '@baton/core'

export interface Missing {
  /** For example `the conversation (messages)`. */
  readonly what: string
  readonly tool: string
  readonly hint: string
}

/** Creates a list that throws when read. @throws BatonError `tool_failed`, later */
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
  return new BatonError({ code: 'tool_failed', message: `"${tool}" reads ${what}, which is not available to it`, hint })
}
