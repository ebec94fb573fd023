// A call of each format in places where it counts and where it does not: every kind of code, quotes, thoughts, other
// calls. Each text is read whole, in two pieces split at every character, and character by character.
import type { FinishReason } from '@baton/core/internal'
import { afterAll, expect, test } from 'vitest'
import type { PromptedFormatName } from './formats.ts'
import { PROMPTED_FORMATS } from './formats.ts'
import { readAllCuts } from './hostile-texts.test-kit.ts'

const NAMES = Object.keys(PROMPTED_FORMATS) as readonly PromptedFormatName[] // the keys of that record
const INPUT = { path: '/all', text: 'a "b"' }

interface Frame {
  readonly name: string
  readonly write: (call: string) => string
  /** Whether the text counts as a call. */
  readonly isCall: boolean
  /** The text that is shown; the whole text by default. */
  readonly said?: string
  readonly finish?: FinishReason
  /** Formats in which this place is different: their whole answer is the call, or they use code blocks themselves. */
  readonly not?: readonly PromptedFormatName[]
}

const FENCES: readonly PromptedFormatName[] = ['json-fence', 'gemma']
const WHOLES: readonly PromptedFormatName[] = ['llama', 'brackets']

function indent(call: string, by: string): string {
  return by + call.replaceAll('\n', `\n${by}`)
}

const FRAMES: readonly Frame[] = [
  { name: 'alone', write: (call) => call, isCall: true, said: '' },
  { name: 'behind words', write: (call) => `I do it.\n${call}`, isCall: true, said: 'I do it.', not: WHOLES },
  {
    name: 'behind a closed code block',
    write: (call) => `\`\`\`js\nx()\n\`\`\`\n${call}`,
    isCall: true,
    said: '```js\nx()\n```',
    not: WHOLES,
  },
  {
    name: 'behind inline code',
    write: (call) => `Use \`x\` and \`\`y\`\`.\n${call}`,
    isCall: true,
    said: 'Use `x` and ``y``.',
    not: WHOLES,
  },
  {
    name: 'behind a backtick that is not closed',
    write: (call) => `It’s 5 o\`clock.\n${call}`,
    isCall: true,
    said: 'It’s 5 o`clock.',
    not: WHOLES,
  },
  { name: 'behind a list', write: (call) => `- a\n- b\n\n${call}\n`, isCall: true, said: '- a\n- b', not: WHOLES },
  {
    name: 'behind a thought',
    write: (call) => `<think>Hm, <b> \`\`\` \`</think>\n\n${call}`,
    isCall: true,
    said: '<think>Hm, <b> ``` `</think>',
  },
  {
    name: 'in a code block',
    write: (call) => `Do not run:\n\`\`\`\n${call}\n\`\`\`\nSee?`,
    isCall: false,
    not: FENCES,
  },
  { name: 'in a longer code block', write: (call) => `\`\`\`\`md\n${call}\n\`\`\`\`\nSee?`, isCall: false },
  { name: 'in a code block of tildes', write: (call) => `~~~xml\n${call}\n~~~\n`, isCall: false },
  { name: 'in a code block that does not end', write: (call) => `Like this:\n\`\`\`\`xml\n${call}`, isCall: false },
  {
    name: 'in a code block inside of a longer one',
    write: (call) => `\`\`\`\`\n\`\`\`\nx\n\`\`\`\n${call}\n\`\`\`\`\n`,
    isCall: false,
  },
  {
    name: 'in a code block of a list',
    write: (call) => `1. So:\n\n   \`\`\`\`\n${indent(call, '   ')}\n   \`\`\`\`\n`,
    isCall: false,
  },
  { name: 'in inline code', write: (call) => `Write \`\`\`\`${call}\`\`\`\` to do it.`, isCall: false },
  {
    name: 'in inline code that another backtick follows',
    write: (call) => `The \`a\` and \`\`\`\`${call}\`\`\`\`, it’s 5 o\`clock`,
    isCall: false,
  },
  { name: 'in indented code', write: (call) => `So:\n\n${indent(call, '    ')}\n\nSee?`, isCall: false },
  { name: 'in code indented by a tab', write: (call) => `So:\n\n${indent(call, '\t')}\n\nSee?`, isCall: false },
  { name: 'in a quote', write: (call) => `You said:\n${indent(call, '> ')}\nDid you?`, isCall: false },
  { name: 'in <pre>', write: (call) => `<pre>${call}</pre> is the form.`, isCall: false, not: FENCES },
  { name: 'in <code>', write: (call) => `Write <code>${call}</code> then.`, isCall: false, not: FENCES },
  { name: 'in a thought', write: (call) => `<think>I could write\n${call}\n</think>\nNo.`, isCall: false },
  { name: 'in a thought that does not end', write: (call) => `<think>I could write\n${call}`, isCall: false },
]

const COUNTS = { texts: 0, reads: 0 }

test.each(NAMES)('a call of the format %s in every place', async (format) => {
  const call = PROMPTED_FORMATS[format].writeCall({ name: 'remove', arguments: JSON.stringify(INPUT) })
  for (const { name, write, isCall, said, finish, not } of FRAMES) {
    if (not?.includes(format)) continue
    const text = write(call)
    const meaning = await readAllCuts(format, text, finish)
    COUNTS.texts += 1
    COUNTS.reads += text.length + 1
    expect({ place: name, ...meaning }).toMatchObject({
      place: name,
      calls: isCall ? [['remove', INPUT]] : [],
      said: said ?? text,
      unreadable: 0,
      cut: 0,
    })
  }
})

afterAll(() => console.log(`calls in places: ${COUNTS.texts} texts, read in ${COUNTS.reads} ways`))
