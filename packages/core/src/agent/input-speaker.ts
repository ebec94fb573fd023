// Who may say which input of a session. What a client or the host says is refused to others before its fields are read.
import { peek, readVariant } from './read-value.ts'
import type { Read, ValueReader } from './value-reader.ts'

const FROM_PEOPLE = [
  'user-input',
  'transcript',
  'urgent-event',
  'interrupt',
  'rewind',
  'set-model',
  'pause',
  'continue',
  'stop',
  'start',
  'approval',
  'question-answer',
  'describe',
]
const FROM_CLIENTS = [
  'client-attached',
  'client-detached',
  'client-tools',
  'tool-result',
  'call-claimed',
  'call-reached',
  'offer-failed',
  'display-written',
]
const FROM_HOST = [
  'model-finished',
  'model-failed',
  'model-stopped',
  'attempt-progress',
  'summary-finished',
  'summary-failed',
  'tool-finished',
  'question-asked',
  'timer-fired',
  'work-lost',
  'host-restarted',
  'agent-changed',
]

/** Inputs of one speaker, told apart by their `type`. */
export function readInputs<const V extends Readonly<Record<string, Read<unknown>>>>(
  inputs: V,
): Read<ReturnType<V[keyof V]>> {
  const read = readVariant('type', inputs)
  return (reader, value) => {
    const type = peek(reader, value, 'type')
    if (typeof type === 'string' && !Object.hasOwn(inputs, type)) refuseSpeaker(reader, type)
    return read(reader, value)
  }
}

/** Gives back when nobody says such a thing: then the type is unknown, and that is refused as such. */
function refuseSpeaker(reader: ValueReader, type: string): void {
  if (FROM_HOST.includes(type))
    reader.refuseAll('illegal_input', `"${type}" comes from the host; a program or client cannot say it`)
  if (FROM_CLIENTS.includes(type))
    reader.refuseAll('illegal_input', `"${type}" is a report of an attached client, and not a command`)
  if (FROM_PEOPLE.includes(type))
    reader.refuseAll('illegal_input', `"${type}" is a command of a person or program, and not a client's report`)
}
