// Decides who may submit which input of a session. Inputs of a client or the host are refused for others before their
// fields are read.
import { CLIENT_REPORTS, HOST_REPORTS, USER_COMMANDS } from '../machine/input.ts'
import * as s from '../shape/shape.ts'
import type { ValueReader } from '../shape/value-reader.ts'

/** The inputs of one speaker, distinguished by `type`. */
export function inputs<const V extends s.Variants>(forms: V): s.Shape<s.InferVariants<'type', V>> {
  const shape = s.variant('type', forms)
  return {
    ...shape,
    read: (reader, value) => {
      const type = s.peek(reader, value, 'type')
      if (typeof type === 'string' && !Object.hasOwn(forms, type)) refuseSpeaker(reader, type)
      return shape.read(reader, value)
    },
  }
}

/** Refuses an input of another speaker. Returns for an unknown type, which is refused as such. */
function refuseSpeaker(reader: ValueReader, type: string): void {
  const isAmong = (types: ReadonlySet<string>): boolean => types.has(type)
  if (isAmong(HOST_REPORTS))
    reader.refuseAll('illegal_input', `"${type}" comes from the host; a program or client cannot submit it`)
  if (isAmong(CLIENT_REPORTS))
    reader.refuseAll('illegal_input', `"${type}" is a report of an attached client, not a command`)
  if (isAmong(USER_COMMANDS))
    reader.refuseAll('illegal_input', `"${type}" is a command of a person or program, not a client's report`)
}
