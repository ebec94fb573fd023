// Who may say which input of a session. What a client or the host says is refused to others before its fields are read.
import { CLIENT_REPORTS, HOST_REPORTS, USER_COMMANDS } from '../machine/input.ts'
import { peek, readVariant } from './read-value.ts'
import type { Read, ValueReader } from './value-reader.ts'

/** Inputs of one speaker, told apart by their `type`. */
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

/** Gives back when nobody says such a thing: then the type is unknown, and that is refused as such. */
function refuseSpeaker(reader: ValueReader, type: string): void {
  const isAmong = (types: ReadonlySet<string>): boolean => types.has(type)
  if (isAmong(HOST_REPORTS))
    reader.refuseAll('illegal_input', `"${type}" comes from the host; a program or client cannot say it`)
  if (isAmong(CLIENT_REPORTS))
    reader.refuseAll('illegal_input', `"${type}" is a report of an attached client, and not a command`)
  if (isAmong(USER_COMMANDS))
    reader.refuseAll('illegal_input', `"${type}" is a command of a person or program, and not a client's report`)
}
