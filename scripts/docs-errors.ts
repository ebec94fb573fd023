// Generates docs/errors.md from the table of error codes in core.
import type { Fault } from '@baton/core'
import { ERROR_CODES, isErrorCode, readErrorLayer } from '@baton/core'

const WHOSE: Readonly<Record<Fault, string>> = {
  caller: 'the program that calls Baton',
  peer: 'the other end of the wire',
  provider: 'the model or its provider',
  service: 'a service that a tool asks',
  baton: 'Baton or its surroundings',
}

export function errorsPage(): string {
  const rows = Object.entries(ERROR_CODES).map(([code, { fault, retryable, meaning, solve }]) =>
    row([
      `\`${code}\``,
      isErrorCode(code) ? readErrorLayer(code) : '',
      fault,
      retryable ? 'yes' : 'no',
      meaning,
      solve,
    ]),
  )
  const faults = Object.entries(WHOSE).map(([fault, whose]) => `- \`${fault}\`: ${whose}`)
  return `# Error codes

<!-- Generated from packages/core/src/error-codes.ts by \`npm run docs\`. Do not edit. -->

Every error of Baton is a \`BatonError\` with one of these codes. Branch on \`code\`, never on the class: two copies of it
may be loaded. The message says what happened and with which value; \`hint\` says what to do. On the wire the same codes
stand in \`error\` frames, and in the results that a model gets.

What Baton does not take rejects, or throws where nothing is waited for: every method of a host, a session, a turn and a client.
\`session.submit\` alone, the entrance for fronts, answers with \`{ type: 'refused', code, message }\`.
[error-handling.md](error-handling.md) says who learns about what.

Whose fault it is:

${faults.join('\n')}

In which layer it arises: \`api\` is a service that was asked (a provider, an MCP server, an HTTP API), \`tool\` is the tool, its arguments or its permission,
and \`processing\` is what Baton does around them. \`readErrorLayer(code)\` gives it.

An error that can be retried may go away by itself; one that cannot will come again until something is changed.

${row(['Code', 'Layer', 'Fault of', 'Retry', 'Meaning', 'How to solve'])}
${row(['---', '---', '---', '---', '---', '---'])}
${rows.join('\n')}
`
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}
