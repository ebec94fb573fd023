// Records and requests as lines: for the list of a replay, and for the comparison of two requests or two sessions.
import type { ModelRequest } from '@baton/core'
import type { Fact, SessionRecord } from '@baton/core/machine'
import { describeDecision, describeSettlement } from './call-rows.ts'
import { indentJson } from './shown-text.ts'

/** Describes a record in one line. */
export function describeRecord({ input, facts }: SessionRecord): string {
  const said = facts.map(describeFact).filter((line) => line !== '')
  return said.length === 0
    ? `${input.type}: ${facts.map(({ type }) => type).join(', ') || 'nothing'}`
    : said.join(' · ')
}

function describeFact(fact: Fact): string {
  switch (fact.type) {
    case 'session-opened':
      return `session began with ${fact.agent}`
    case 'input-accepted':
      return fact.body.type === 'user'
        ? `input: ${fact.body.parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' ')}`
        : `${fact.body.type} input`
    case 'turn-started':
      return `turn ${fact.turn} began`
    case 'model-started':
      return `${fact.model} is asked (attempt ${fact.attempt})`
    case 'attempt-superseded':
    case 'attempt-failed':
      return `attempt ${fact.attempt} ${fact.error ? `failed: ${fact.error.code}` : 'was superseded'}`
    case 'step-finished':
      return `step ${fact.step} answered${fact.calls.length > 0 ? ` with calls: ${fact.calls.map(({ name }) => name).join(', ')}` : ''}`
    case 'approval-requested':
      return 'an approval is needed'
    case 'approval-decided':
      return describeDecision(fact)
    case 'approval-given':
      return `approved by ${fact.principal}, ${fact.left} more to go`
    case 'call-started':
      return 'a call began'
    case 'call-offered':
      return `a call was offered to ${fact.connection}`
    case 'call-claimed':
      return `${fact.connection} claimed a call`
    case 'call-settled':
    case 'task-settled':
      return `call: ${describeSettlement(fact.settlement)}`
    case 'turn-finished':
      return `turn ${fact.turn} was ${fact.outcome}`
    default:
      return ''
  }
}

/** A session without its ids and times, so that two of the same course are equal. */
export function listSessionLines(records: readonly SessionRecord[]): readonly string[] {
  const names = new Map<string, string>()
  return records.flatMap(({ facts }) =>
    facts.flatMap((fact): readonly string[] => {
      if (fact.type === 'input-accepted')
        return fact.body.type === 'user'
          ? asLines(
              'user',
              fact.body.parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(' '),
            )
          : [`${fact.body.type} input`]
      if (fact.type === 'attempt-superseded')
        return [`  attempt superseded: ${fact.reason}${fact.error ? ` (${fact.error.code})` : ''}`]
      if (fact.type === 'step-finished') {
        const said = fact.parts.flatMap((part) => {
          if (part.type === 'text') return asLines(fact.model, part.text)
          if (part.type !== 'call') return []
          names.set(part.callId, part.name)
          return asLines(`  call ${part.name}`, indentJson(part.arguments))
        })
        return said
      }
      const name = 'callId' in fact ? (names.get(String(fact.callId)) ?? 'call') : ''
      if (fact.type === 'approval-decided') return [`  ${name}: ${describeDecision(fact)}`]
      if (fact.type === 'call-settled' || fact.type === 'task-settled')
        return asLines(`  ${name} → ${fact.settlement.type}`, describeSettlement(fact.settlement))
      if (fact.type === 'turn-finished') return [`turn ${fact.turn}: ${fact.outcome}`]
      return []
    }),
  )
}

function asLines(who: string, text: string): readonly string[] {
  const [first = '', ...rest] = text.split('\n')
  return [`${who}: ${first}`, ...rest.map((line) => `    ${line}`)]
}

/** Writes a request as text, one part per line, for comparisons. */
export function writeRequest({ instructions, messages, tools, toolChoice, settings, output }: ModelRequest): string {
  const said = messages.flatMap((message) => [
    `## ${message.role}`,
    ...message.parts.map((part) => {
      if (part.type === 'text') return part.text
      if (part.type === 'reasoning') return `[thoughts] ${part.text}`
      if (part.type === 'call') return `[call ${part.callId}] ${part.name} ${indentJson(part.arguments)}`
      if (part.type === 'result')
        return `[result ${part.callId}${part.isError ? ', error' : ''}] ${part.content.map((inner) => (inner.type === 'text' ? inner.text : `[${inner.type}]`)).join('\n')}`
      return `[${part.type}]`
    }),
    '',
  ])
  const rest = { toolChoice, settings, ...(output && { output }) }
  return [
    '# Instructions',
    instructions,
    '',
    '# Messages',
    ...said,
    '# Tools',
    ...tools.map((tool) => `${tool.name}: ${tool.description}\n${JSON.stringify(tool.inputSchema, null, 2)}`),
    '',
    '# Settings',
    JSON.stringify(rest, null, 2),
  ].join('\n')
}
