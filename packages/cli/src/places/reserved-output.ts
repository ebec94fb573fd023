// Reserves standard output for the messages of a protocol.
import { Writable } from 'node:stream'
import type { ConsoleStreams } from '../console.ts'

/** Redirects everything else that is printed to standard error. */
export function reserveOutput({ output, errors }: ConsoleStreams): Writable {
  const write = output.write.bind(output)
  output.write = errors.write.bind(errors)
  return new Writable({
    decodeStrings: false,
    write: (chunk: string, encoding, callback) => void write(chunk, encoding, callback),
  })
}
