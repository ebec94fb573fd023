// A session's records as a test: a scripted model that says what the model said, and tools that return what they returned.
// It is a beginning for a person, who names what it is to show.
import type { FactOf, SessionRecord, Settlement } from '@baton/core/machine'

interface Seen {
  /** One for each turn. */
  readonly inputs: readonly string[]
  readonly steps: readonly FactOf<'step-finished'>[]
  readonly settled: ReadonlyMap<string, Settlement>
  readonly answer: string | undefined
}

/** @param until position of the last record that counts */
export function writeTestCase(records: readonly SessionRecord[], session: string, until = Infinity): string {
  const { inputs, steps, settled, answer } = readSession(records.filter(({ pos }) => pos <= until))
  const tools = [...new Set(steps.flatMap(({ calls }) => calls.map(({ name }) => name)))]
  return [
    `// From session ${oneLine(session)}. For the whole log: baton sessions export, then replaySession (docs/testing-your-agent.md).`,
    `import { createHost, defineAgent, tool } from '@baton/host'`,
    `import { createScriptedModel } from '@baton/host/testing'`,
    `import assert from 'node:assert/strict'`,
    `import { test } from 'node:test'`,
    '',
    `test(${quote(`session ${session}`)}, async () => {`,
    '  const model = createScriptedModel({',
    '    steps: [',
    ...steps.map((step) => `      ${writeStep(step)},`),
    '    ],',
    '  })',
    ...tools.flatMap((name) => writeTool(name, steps, settled)),
    `  const host = createHost({ agent: defineAgent({ name: 'tested', model, tools: [${tools.map(nameTool).join(', ')}] }) })`,
    '  const session = await host.session()',
    ...inputs.map(
      (text, index) =>
        `  ${index === inputs.length - 1 ? 'const answer = ' : ''}await session.send(${quote(text)}).answer`,
    ),
    ...(answer === undefined || inputs.length === 0 ? [] : [`  assert.equal(answer.text, ${quote(answer)})`]),
    '  await host.stop()',
    '})',
    '',
  ].join('\n')
}

function readSession(records: readonly SessionRecord[]): Seen {
  const texts = new Map<string, string>()
  const turns: string[][] = []
  const steps: FactOf<'step-finished'>[] = []
  const settled = new Map<string, Settlement>()
  let answer: string | undefined
  let isAsked = false
  for (const fact of records.flatMap(({ facts }) => facts)) {
    if (fact.type === 'input-accepted') texts.set(fact.inputId, readInput(fact.body))
    if (fact.type === 'turn-started') turns.push([])
    if (fact.type === 'turn-started' || fact.type === 'model-started') isAsked = fact.type === 'model-started'
    // An input that entered a running turn is left out: a test could not send it at that moment.
    if (fact.type === 'inputs-entered' && !isAsked)
      turns.at(-1)?.push(...fact.entries.flatMap(({ inputs }) => inputs.map((id) => texts.get(id) ?? '')))
    if (fact.type === 'step-finished') steps.push(fact)
    if (fact.type === 'call-settled' || fact.type === 'task-settled') settled.set(fact.callId, fact.settlement)
    if (fact.type === 'turn-finished' && fact.outcome === 'answered') answer = fact.text
  }
  return { inputs: turns.map((inputs) => inputs.join('\n')), steps, settled, answer }
}

function readInput(body: FactOf<'input-accepted'>['body']): string {
  if (body.type === 'user')
    return body.parts.map((part) => (part.type === 'text' ? part.text : `[${part.type} ${part.mediaType}]`)).join(' ')
  return body.type === 'transcript' ? `${body.speaker}: ${body.text}` : `[${body.name}]`
}

function writeStep({ parts }: FactOf<'step-finished'>): string {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  const calls = parts.flatMap((part) =>
    part.type === 'call' ? [`{ name: ${quote(part.name)}, arguments: ${asArguments(part.arguments)} }`] : [],
  )
  const fields = [
    ...(text === '' ? [] : [`text: ${quote(text)}`]),
    ...(calls.length === 0 ? [] : [`calls: [${calls.join(', ')}]`]),
  ]
  return `{ ${fields.join(', ')} }`
}

/** The results of a tool in the order of its calls. */
function writeTool(
  name: string,
  steps: readonly FactOf<'step-finished'>[],
  settled: Seen['settled'],
): readonly string[] {
  const calls = steps.flatMap((step) => step.calls.filter((call) => call.name === name))
  const results = calls.map(({ callId }) => {
    const settlement = settled.get(callId)
    if (settlement?.type !== 'ok') return quote(settlement ? `[${settlement.type}]` : '[open]')
    if (settlement.value !== undefined) return JSON.stringify(settlement.value)
    return quote(settlement.content.map((part) => (part.type === 'text' ? part.text : '')).join(''))
  })
  return [
    `  const ${nameTool(name)}Results = [${results.join(', ')}]`,
    `  const ${nameTool(name)} = tool({`,
    `    name: ${quote(name)},`,
    `    description: 'returns what it returned in the session',`,
    `    input: { type: 'object' },`,
    `    effect: ${quote(calls[0]?.effect ?? 'pure')},`,
    `    execute: () => ${nameTool(name)}Results.shift() ?? null,`,
    '  })',
  ]
}

function nameTool(name: string): string {
  const words = name.split(/[^a-zA-Z0-9]+/).filter((word) => word !== '')
  return `tool${words.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`).join('')}`
}

/** A literal of the object, or its text if it is not JSON. */
function asArguments(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return quote(text)
  }
}

function quote(text: string): string {
  return JSON.stringify(text).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')
}
