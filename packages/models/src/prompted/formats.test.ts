// The format a model was trained on, by template and by name; and marks that do not hide each other.
import { expect, test } from 'vitest'
import { AnswerParser } from './answer-parser.ts'
import { chooseFormat, findOwnFormat, PROMPTED_FORMATS, withHabits } from './formats.ts'
import { offeredTools } from './json-calls.ts'

test.each([
  ['ollama/qwen3:8b', 'hermes'],
  ['ollama/qwen3-coder:30b', 'qwen-coder'],
  ['vllm/Qwen/Qwen3-Coder-480B-A35B-Instruct', 'qwen-coder'],
  ['vllm/Qwen/Qwen2.5-72B-Instruct', 'hermes'],
  ['vllm/NousResearch/Hermes-3-Llama-3.1-8B', 'hermes'],
  ['vllm/zai-org/GLM-4.6', 'glm'],
  ['openai-compatible/glm-4-9b', undefined],
  ['vllm/deepseek-ai/DeepSeek-V3.1', 'deepseek'],
  ['ollama/deepseek-r1-distill-llama:70b', 'llama'],
  ['vllm/deepseek-ai/DeepSeek-R1-Distill-Qwen-32B', 'hermes'],
  ['lmstudio/openai/gpt-oss-20b', 'harmony'],
  ['vllm/moonshotai/Kimi-K2-Instruct', 'kimi'],
  ['ollama/granite3.3:8b', 'granite'],
  ['ollama/granite4:tiny', 'hermes'],
  ['vllm/MiniMaxAI/MiniMax-M2', 'minimax'],
  ['ollama/gemma3:4b', 'gemma'],
  ['ollama/mistral-small:24b', 'mistral'],
  ['ollama/devstral', 'mistral'],
  ['ollama/llama3.2', 'llama'],
  ['vllm/meta-llama/Llama-4-Scout-17B-16E-Instruct', 'brackets'],
  ['ollama/phi4', undefined],
  ['m', undefined],
] as const)('%s was taught %s', (id, format) => {
  expect(findOwnFormat({ id })).toBe(format)
  // Servers may strip special tokens from the text: such formats are read, but not asked for.
  const isAsked = format !== undefined && !PROMPTED_FORMATS[format].hasTokens
  expect(chooseFormat({ id })).toBe(isAsked ? format : 'hermes')
})

test.each(Object.entries(PROMPTED_FORMATS))(
  'what a model of %s writes by habit is read beside what it is asked for',
  (_, own) => {
    const joined = withHabits(PROMPTED_FORMATS.hermes, own)
    const calls: string[] = []
    const parser = new AnswerParser({
      format: joined,
      tools: offeredTools([{ name: 'look', inputSchema: { type: 'object' } }]),
      mayRepair: true,
      onParsed: (parsed) => void (parsed.type === 'call' && calls.push(parsed.name)),
    })
    const isText = own.whole !== undefined || own.marks.some(({ isFence }) => isFence)
    parser.push(`${PROMPTED_FORMATS.hermes.writeCall({ name: 'look', arguments: '{}' })}\n`)
    parser.push(own.writeCall({ name: 'look', arguments: '{"at":"sky"}' }))
    parser.end(true)
    expect(calls).toEqual(isText ? ['look'] : ['look', 'look'])
  },
)

test.each([
  ["{{ '<tool_call>\\n<function=' + tool.name }}", 'qwen-coder'],
  ['<tool_call>{function-name}\n<arg_key>{arg-key-1}</arg_key>', 'glm'],
  ["'<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>'", 'deepseek'],
  ["'<|channel|>commentary to=functions.'", 'harmony'],
  ['<|tool_calls_section_begin|>', 'kimi'],
  ["{%- set toolcall_begin_token = '<minimax:tool_call>' -%}", 'minimax'],
  ['[TOOL_CALLS]', 'mistral'],
  ['<|tool_call|>', 'granite'],
  ['<tool_call>{"name": <function-name>}', 'hermes'],
  ['<start_of_turn>model', 'gemma'],
])('the template %s tells the format %s, whatever the name', (template, format) => {
  expect(chooseFormat({ id: 'ollama/llama3.2', template })).toBe(format)
})

test('of one format no mark is the beginning of another: it would hide it', () => {
  const hidden = Object.values(PROMPTED_FORMATS).flatMap(({ marks, head, strays = [] }) => {
    const opens = [...marks.map(({ open }) => open), ...(head?.open ?? []), ...(head?.close ?? []), ...strays]
    return opens.flatMap((one) => opens.filter((other) => one !== other && other.startsWith(one)))
  })
  expect(hidden).toEqual([])
})
