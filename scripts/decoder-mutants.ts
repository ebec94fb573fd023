// Decoder mistakes that the garbler must detect: each would be made by an author who reads a wire as its documentation
// describes it, and not as gateways and local servers write it.
import type { Mutant } from './mutant-list.ts'

const MODELS = 'packages/models/src'
const GARBLER = { file: 'packages/testing/src/garbler/garbler.property.test.ts' } as const

const garbled = (name: string, file: string, change: readonly [from: string, to: string]): Mutant => ({
  name: `garbled: ${name}`,
  file: file.startsWith('packages') ? file : `${MODELS}/${file}`,
  from: change[0],
  to: change[1],
  test: GARBLER,
})

export const DECODER_MUTANTS: readonly Mutant[] = [
  garbled('the index of a piece wins over its id', 'openai-chat/decode-call.ts', [
    'if (known)\n      return hasSameId',
    'if (known && index === undefined)\n      return hasSameId',
  ]),
  garbled('the whole arguments twice are no arguments', 'meant-arguments.ts', [
    'if (meant !== undefined && others.length === 0)',
    'if (meant !== undefined && others.length > 0)',
  ]),
  garbled('pieces that hold all before them are joined', 'meant-arguments.ts', [
    'cumulative !== text && parseJson(cumulative).ok',
    'cumulative === text && parseJson(cumulative).ok',
  ]),
  garbled('a name in two pieces is its second half', 'openai-chat/decode-call.ts', [
    'name : call.name + name',
    'name : name',
  ]),
  garbled('nothing is heard behind a reason', 'openai-chat/decode-stream.ts', [
    'const said = hasDelta ? delta : message',
    'const said = this.#finish !== undefined ? undefined : hasDelta ? delta : message',
  ]),
  garbled('an answer waits for its connection', 'transport/whole-answer.ts', [
    "if (reader.progress === 'whole') giveWhole(head)",
    "if (reader.progress === 'whole' && isOver) giveWhole(head)",
  ]),
  garbled('a reason alone never ends an answer', 'transport/whole-answer.ts', [
    'if (quietMs !== undefined) stopQuiet',
    'if (quietMs === 0) stopQuiet',
  ]),
  garbled('[DONE] is no event of Anthropic', 'anthropic/decode-stream.ts', [
    "if (event.data.trim() === '[DONE]') {",
    "if (event.data.trim() === '[END]') {",
  ]),
  garbled('an answer without message_stop is cut off', 'anthropic/decode-stream.ts', [
    "return hasReason && this.#open === 0 ? 'ended' : 'open'",
    "return hasReason && this.#open > 0 ? 'ended' : 'open'",
  ]),
  garbled('the end of a block counts each time', 'anthropic/decode-stream.ts', [
    'if (this.#blockAt.get(index)?.isOpen === false && !this.#isShifted) return',
    'if (this.#blockAt.get(index)?.isOpen === undefined) return',
  ]),
  garbled('blocks are numbered by their places', 'anthropic/decode-stream.ts', [
    'this.#blockAt.set(index, block)',
    'this.#blockAt.set(this.#blocks.length - 1, block)',
  ]),
  garbled('an item keeps its place for ever', 'openai-responses/decode-item.ts', [
    'if (!this.hasTypeOf(item)) return true\n    if (!this.isDone) return false',
    'if (!this.hasTypeOf(item)) return false\n    if (!this.isDone) return false',
  ]),
  garbled('items that only the end lists are lost', 'openai-responses/decode-stream.ts', [
    '} else this.#finish(this.#begin(undefined, item), item)',
    '} else this.#finish(undefined, item)',
  ]),
  garbled('a total that counts the cache counts as output', 'openai-chat/decode-end.ts', [
    'return [cacheRead, cacheWrite, cacheRead + cacheWrite].includes(rest) ? 0 : rest',
    'return rest + beside',
  ]),
  garbled('a namespace is part of a name', 'packages/runtime/src/work/call-check.ts', [
    'functions?|default_api|tools?',
    'functions?|tools?',
  ]),
  garbled('thoughts without their first tag are text', 'openai-chat/decode-stream.ts', [
    'const split = this.#tags && splitAtClose(whole, !mayBeOpen)',
    'const split = this.#tags && splitAtClose("", !mayBeOpen)',
  ]),
  garbled('nothing of Bedrock is heard behind a reason', 'bedrock/decode-stream.ts', [
    'else if (isException ||',
    'else if (this.#stop) return\n    else if (isException ||',
  ]),
  garbled('the cache of Bedrock counts twice', 'bedrock/decode-stream.ts', [
    'isIn && input >= cached ? input :',
    'isIn && input < cached ? input :',
  ]),
  garbled('the thoughts of Gemini count twice', 'gemini/decode-end.ts', [
    'isIncluded ? answer :',
    '!isIncluded ? answer :',
  ]),
  garbled('arguments of Gemini that are a text are none', 'gemini/decode-call.ts', [
    'readObject(args ??',
    "readObject((typeof args === 'string' ? {} : args) ??",
  ]),
]
