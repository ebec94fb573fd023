// Calls in thoughts, comments and markup are shown but do not run.
import type { Model } from '@baton/core'
import { expect, test } from 'vitest'
import { withPromptedTools } from './index.ts'

const CALL = '<tool_call>\n{"name": "pay", "arguments": {"a": 1}}\n</tool_call>'
const LINE = '<tool_call>{"name": "pay", "arguments": {"a": 1}}</tool_call>'

async function listCalls(text: string): Promise<readonly string[]> {
  const said: Model = {
    id: 'x/qwen',
    provider: 'x',
    capabilities: { tools: 'unknown', images: false },
    run: (_request, sink) => {
      sink({ type: 'text-delta', text })
      return Promise.resolve({ parts: [{ type: 'text', text }], finish: 'end', usage: {}, model: 'y' })
    },
  }
  const answer = await withPromptedTools(said, { format: 'hermes' }).run(
    {
      instructions: '',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }],
      tools: [{ name: 'pay', description: '', inputSchema: { type: 'object' } }],
      toolChoice: { type: 'auto' },
      settings: {},
      session: 's',
    },
    () => {},
    new AbortController().signal,
  )
  return answer.parts.flatMap((part) => (part.type === 'call' ? [part.name] : []))
}

const TAGS = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['<reflection>', '</reflection>'],
  ['<seed:think>', '</seed:think>'],
  ['[THINK]', '[/THINK]'],
  ['<THINK>', '</Think>'],
  ['<think >', '</think\n>'],
] as const

test.each(TAGS)(
  'a call in a thought between %s and %s does not run, wherever the thought stands',
  async (open, close) => {
    for (const call of [CALL, LINE]) {
      expect(await listCalls(`${open}I could ${call} but no.${close} Done.`)).toEqual([])
      expect(await listCalls(`Sure. ${open}I could ${call} but no.${close} Done.`)).toEqual([])
      expect(await listCalls(`${open}a${close}\nHello\n${open}I could ${call} but no.${close} Done.`)).toEqual([])
      expect(await listCalls(`I could ${call} but no.${close} Done.`)).toEqual([])
      expect(await listCalls(`${open}no${close}\n${call}`)).toEqual(['pay'])
      expect(await listCalls(`Yes. ${open}no${close}\n${call}`)).toEqual(['pay'])
    }
  },
)

test('a call behind the word for a tag runs, however many words there are', async () => {
  expect(await listCalls(`A <think> tag.\n${CALL}`)).toEqual(['pay'])
  expect(await listCalls(`${'A <think> tag. '.repeat(20_000)}\n${CALL}`)).toEqual(['pay'])
  expect(await listCalls(`A <think> tag.\n${CALL}\n<thinking>${CALL}</thinking> No.`)).toEqual([])
})

test.each([
  `See:\n<!-- ${LINE} -->\nDone.`,
  `<!-- a\n\n${CALL}\n-->`,
  `<![CDATA[${LINE}]]>`,
  ...['samp', 'kbd', 'tt', 'var', 'code'].map((name) => `<${name}>${LINE}</${name}>`),
  ...['pre', 'script', 'style', 'textarea', 'xmp', 'listing', 'blockquote'].map(
    (name) => `<${name} class="a">\n\n${CALL}\n</${name}>`,
  ),
  `<pre\nclass="a">${CALL}</pre>`,
  `<PRE id="${'x'.repeat(200)}">${CALL}</PRE>`,
  `<code/>${LINE}</code>`,
  `\\begin{verbatim}\n${CALL}\n\\end{verbatim}`,
  `\\begin{lstlisting}[language=XML]\n\n${CALL}\n\\end{lstlisting}`,
])('a call in markup that is shown as it is does not run: %j', async (text) => {
  expect(await listCalls(text)).toEqual([])
  expect(await listCalls(`${text}\n\n${CALL}`)).toEqual(['pay'])
})

// Each took minutes while the time was quadratic in the length.
test.each([
  ['brackets', '<|tool_call_start|>', ' '],
  ['gemma', '```tool_code\n', '\t'],
  ['deepseek', '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>', '\r\n'],
] as const)('blanks in a call of the format %s are read in time with their length', async (format, open, blank) => {
  const text = `${open}${blank.repeat(900_000 / blank.length)}x`
  const said: Model = {
    id: 'x/y',
    provider: 'x',
    capabilities: { tools: 'unknown', images: false },
    run: () => Promise.resolve({ parts: [{ type: 'text', text }], finish: 'end', usage: {}, model: 'y' }),
  }
  const answer = await withPromptedTools(said, { format }).run(
    {
      instructions: '',
      messages: [],
      tools: [{ name: 'look', description: '', inputSchema: { type: 'object' } }],
      toolChoice: { type: 'auto' },
      settings: {},
      session: 's',
    },
    () => {},
    new AbortController().signal,
  )
  expect(answer.parts).toHaveLength(1)
})
