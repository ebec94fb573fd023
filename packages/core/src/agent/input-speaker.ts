// Decides who may submit which input of a session. Inputs of a client or the host are refused for others before their
// fields are read.
import { CLIENT_REPORTS, HOST_REPORTS, USER_COMMANDS } from '../machine/input.ts'
import { peek, readVariant } from './read-value.ts'
import type { Read, ValueReader } from './value-reader.ts'

/** Reads the inputs of one speaker, distinguished by `type`. */
export function readInputs<const V extends Readonly<Record<string, Read<unknown>>>>(
  inputs: V,
): Read<ReturnType<V[keyof V]>> {
  const read = readVariant('type', inputs)
  return (reader, value) => {
    const type = peek(reader, value, 'type')
    // The type is one of the inputs' names.
    if (typeof type === 'string' && Object.hasOwn(inputs, type))
      return inputs[type]?.(reader, value) as ReturnType<V[keyof V]>
    if (typeof type === 'string') refuseSpeaker(reader, type)
    return read(reader, value)
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
