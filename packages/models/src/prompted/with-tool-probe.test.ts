// The probe: the meaning of each answer, waiting requests, and inconclusive results.
import type { ErrorCode, Model, ModelRequest } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import type { ScriptedModel, ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { describe, expect, test } from 'vitest'
import type { ToolProbeOptions } from './with-tool-probe.ts'
import type { ToolVerdict } from './tool-probe.ts'
import { withToolsIfNeeded } from './index.ts'
import { describeToolVerdict } from './tool-probe.ts'
import { withToolProbe } from './with-tool-probe.ts'
import { PROBE_TOOL } from './tool-probe.ts'

const REQUEST: ModelRequest = {
  instructions: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }],
  tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
  toolChoice: { type: 'auto' },
  settings: {},
  session: 's',
}
const CALL = { name: PROBE_TOOL, arguments: { word: 'copper' } }
const isProbe = ({ tools }: ModelRequest): boolean => tools.some(({ name }) => name === PROBE_TOOL)

type Answers = (request: ModelRequest, probes: number) => ScriptedStep

interface Probed {
  readonly inner: ScriptedModel
  readonly model: Model
  readonly verdicts: ToolVerdict[]
  /** Number of requests sent by the probe. */
  probes(): number
  /** The last real request. */
  asked(): ModelRequest | undefined
  /** Outcome of a request: its text and calls, or its error code. */
  run(request?: ModelRequest, signal?: AbortSignal): Promise<string>
}

function probed(answers: Answers, options: ToolProbeOptions = {}): Probed {
  let count = 0
  const inner = createScriptedModel({
    id: 'ollama/gemma',
    capabilities: { tools: 'unknown' },
    steps: (request) => answers(request, isProbe(request) ? ++count : count),
  })
  const verdicts: ToolVerdict[] = []
  const model = withToolProbe(inner, { ...options, onVerdict: (verdict) => verdicts.push(verdict) })
  const run = async (request = REQUEST, signal = new AbortController().signal): Promise<string> => {
    try {
      const { parts } = await model.run(request, () => {}, signal)
      return parts
        .map((part) => (part.type === 'call' ? `call ${part.name}` : part.type === 'text' ? part.text : ''))
        .join()
    } catch (cause) {
      return isBatonError(cause) ? cause.code : String(cause)
    }
  }
  const asked = () => inner.requests.findLast((request) => !isProbe(request))
  return { inner, model, verdicts, probes: () => count, asked, run }
}

/** Answers the probe with this step, and real requests with "done". */
const probeGets =
  (step: ScriptedStep): Answers =>
  (request) =>
    isProbe(request) ? step : { text: 'done' }

function fails(code: ErrorCode): ScriptedStep {
  return { error: new BatonError({ code, message: 'as the test has it' }) }
}

describe('what the answer to the probe means', () => {
  const prompted = (reason: 'written' | 'ignored' | 'refused', format = 'gemma') => ({
    type: 'prompted',
    reason,
    format,
  })

  test.each<[string, ScriptedStep, object]>([
    ['a call', { calls: [CALL] }, { type: 'native' }],
    ['a call of another name', { calls: [{ name: 'repeatWord', arguments: {} }] }, { type: 'native' }],
    ['words', { text: 'I have no tool of that name.' }, prompted('ignored')],
    ['words without end', { text: 'copper copper copper', finish: 'max-tokens' }, prompted('ignored')],
    ['an error that says that there are no tools', fails('model_without_tools'), prompted('refused')],
    [
      'a call in tags',
      { text: '<tool_call>\n{"name": "repeat_word", "arguments": {"word": "copper"}}\n</tool_call>' },
      prompted('written', 'hermes'),
    ],
    [
      'a call as the whole answer',
      { text: '{"name": "repeat_word", "parameters": {"word": "copper"}}' },
      prompted('written', 'llama'),
    ],
    ['a list of Python', { text: '[repeat_word(word="copper")]' }, prompted('written', 'brackets')],
    [
      'Mistral’s list',
      { text: '[TOOL_CALLS] [{"name": "repeat_word", "arguments": {"word": "copper"}}]' },
      prompted('written', 'mistral'),
    ],
    [
      'a code block',
      { text: 'Here:\n```json\n{"name": "repeat_word", "arguments": {"word": "copper"}}\n```' },
      prompted('written', 'json-fence'),
    ],
    ['data that is no call', { text: '{"name": "Alice", "parameters": 3}' }, prompted('ignored')],
  ])('%s', async (_situation, step, verdict) => {
    const { run, verdicts, probes } = probed(probeGets(step))
    expect([await run(), await run()]).toEqual(['done', 'done'])
    expect([verdicts, probes()]).toEqual([[verdict], 1])
  })

  test.each<[string, ScriptedStep]>([
    ['an answer that was cut while the model thought', { reasoning: 'The user wants', finish: 'max-tokens' }],
    ['an empty answer', { text: ' \n' }],
    ['a broken connection', fails('model_network_failed')],
    ['a key that is refused', fails('model_auth_failed')],
    ['a rate limit', fails('model_rate_limited')],
    ['an overload', fails('model_overloaded')],
    ['a time-out', fails('model_timeout')],
    ['a request that is refused for something else', fails('model_invalid_request')],
  ])('nothing: %s', async (_situation, step) => {
    const { run, verdicts, probes, asked } = probed((request, count) =>
      isProbe(request) ? (count === 1 ? step : { text: 'No.' }) : { text: 'done' },
    )
    expect(await run()).toBe('done')
    expect([verdicts, asked()?.tools]).toEqual([[], REQUEST.tools])
    expect(await run()).toBe('done')
    expect([probes(), asked()?.tools, verdicts]).toEqual([2, [], [prompted('ignored')]])
  })
})

test('a probe that fails leaves it to the real request to tell its own error', async () => {
  const { run } = probed((request) => fails(isProbe(request) ? 'model_network_failed' : 'model_auth_failed'))
  expect(await run()).toBe('model_auth_failed')
})

test('a server whose probes never find anything is probed less and less often', async () => {
  const { run, probes } = probed(probeGets(fails('model_rate_limited')))
  const counts: number[] = []
  for (let request = 0; request < 300; request++) {
    expect(await run()).toBe('done')
    counts.push(probes())
  }
  expect([counts[0], counts[1], counts[3], counts[4], counts[10], counts[11]]).toEqual([1, 2, 2, 3, 3, 4])
  expect(counts.at(-1)).toBe(9)
})

test('a call of a real request is as good as one of the probe', async () => {
  const { run, probes, verdicts } = probed((request) =>
    isProbe(request) ? fails('model_overloaded') : { calls: [{ name: 'look', arguments: {} }] },
  )
  expect([await run(), await run(), await run()]).toEqual(['call look', 'call look', 'call look'])
  expect([probes(), verdicts]).toEqual([1, [{ type: 'native' }]])
})

test('a probe that is answered in words after a real request was answered with a call decides nothing', async () => {
  const slow = Promise.withResolvers<void>()
  const late = Promise.withResolvers<void>()
  const verdicts: ToolVerdict[] = []
  let probes = 0
  const inner: Model = {
    ...createScriptedModel({ steps: [] }),
    run: async (request, sink, signal) => {
      const say = (step: ScriptedStep) => createScriptedModel({ steps: [step] }).run(request, sink, signal)
      if (request.session === 'slow') {
        await slow.promise
        return await say({ calls: [{ name: 'look', arguments: {} }] })
      }
      if (!isProbe(request)) return await say({ text: `${request.tools.length} tools` })
      probes += 1
      if (probes < 3) return await say(fails('model_overloaded'))
      await late.promise
      return await say({ text: 'No.' })
    },
  }
  const model = withToolProbe(inner, { onVerdict: (verdict) => verdicts.push(verdict) })
  const run = (session = 's') => model.run({ ...REQUEST, session }, () => {}, new AbortController().signal)
  await run()
  await run()
  // These two go without a probe; the next one starts it.
  const unprobed = run('slow')
  await run()
  const waiting = run()
  await expect.poll(() => probes).toBe(3)
  slow.resolve()
  await unprobed
  late.resolve()
  expect([(await waiting).parts, (await run()).parts]).toEqual(Array(2).fill([{ type: 'text', text: '1 tools' }]))
  expect(verdicts).toEqual([{ type: 'native' }])
})

test('a server that refuses tools later is asked in words in the same request, and from then on', async () => {
  let refuses = false
  const { run, verdicts, asked, probes } = probed((request) => {
    if (isProbe(request)) return { calls: [CALL] }
    return refuses && request.tools.length > 0 ? fails('model_without_tools') : { text: 'done' }
  })
  expect(await run()).toBe('done')
  refuses = true
  expect(await run()).toBe('done')
  expect(asked()).toMatchObject({ tools: [], instructions: expect.stringContaining('```tool_code') as string })
  refuses = false
  expect(await run()).toBe('done')
  expect([asked()?.tools, probes()]).toEqual([[], 1])
  expect(verdicts.map(({ type }) => type)).toEqual(['native', 'prompted'])
})

test('a refusal behind text that was streamed is told, and what comes next is asked in words', async () => {
  const { run, asked } = probed((request) => {
    if (isProbe(request)) return { calls: [CALL] }
    return request.tools.length > 0 ? { text: 'Half an', ...fails('model_without_tools') } : { text: 'done' }
  })
  expect([await run(), await run()]).toEqual(['model_without_tools', 'done'])
  expect(asked()?.tools).toEqual([])
})

test('a request without tools is not kept waiting by a probe; one with results of before is', async () => {
  const { run, probes } = probed(probeGets({ text: 'No.' }))
  const without = { ...REQUEST, tools: [] }
  expect(await run(without)).toBe('done')
  expect(probes()).toBe(0)
  const result = { type: 'result', callId: 'c', name: 'look', isError: false, content: [] } as const
  await run({ ...without, messages: [...REQUEST.messages, { role: 'tool', parts: [result] }] })
  expect(probes()).toBe(1)
})

test('calls that are asked for in words come back as native ones, in the format that the model writes', async () => {
  const { run, asked } = probed((request) =>
    isProbe(request) ? { text: '[repeat_word(word="copper")]' } : { text: '[look(at="sky")]' },
  )
  expect(await run()).toBe('call look')
  expect(asked()?.instructions).toContain('[<name>(<argument>=<value>')
})

test('the format that the caller names wins', async () => {
  const { run, asked, verdicts } = probed(probeGets({ text: '[repeat_word(word="copper")]' }), { format: 'json-fence' })
  await run()
  expect(asked()?.instructions).toContain('```tool_call')
  expect(verdicts).toMatchObject([{ format: 'json-fence' }])
})

describe('several sessions at once', () => {
  /** The probe waits until it is answered by hand. If aborted, it fails as a transport does. */
  function held() {
    let answer: (step: ScriptedStep) => void = () => {}
    const probes: AbortSignal[] = []
    const scripted = createScriptedModel({ capabilities: { tools: 'unknown' }, steps: () => ({ text: 'done' }) })
    const verdicts: ToolVerdict[] = []
    const inner: Model = {
      ...scripted,
      run: async (request, sink, signal) => {
        if (!isProbe(request)) return await scripted.run(request, sink, signal)
        probes.push(signal as AbortSignal) // the wrapper's own signal
        const step = await new Promise<ScriptedStep>((resolve, reject) => {
          answer = resolve
          signal.addEventListener('abort', () => reject(new Error('aborted')))
        })
        return await createScriptedModel({ steps: [step] }).run(request, sink, signal)
      },
    }
    const model = withToolProbe(inner, { onVerdict: (verdict) => verdicts.push(verdict) })
    const run = (signal = new AbortController().signal) =>
      model
        .run(REQUEST, () => {}, signal)
        .then(
          () => scripted.requests.at(-1)?.tools.length,
          (cause: unknown) => (isBatonError(cause) ? cause.code : cause),
        )
    return { run, probes, verdicts, answer: (step: ScriptedStep) => answer(step) }
  }

  test('wait for one probe', async () => {
    const { run, probes, answer, verdicts } = held()
    const both = Promise.all([run(), run()])
    answer({ text: 'No.' })
    expect(await both).toEqual([0, 0])
    expect([probes.length, verdicts.length]).toEqual([1, 1])
  })

  test('one that is aborted leaves the probe to the other', async () => {
    const { run, probes, answer } = held()
    const aborted = new AbortController()
    const first = run(aborted.signal)
    const second = run()
    aborted.abort()
    expect(await first).toBe('cancelled')
    expect(probes[0]?.aborted).toBe(false)
    answer({ text: 'No.' })
    expect([await second, probes.length]).toEqual([0, 1])
  })

  test('a probe for which nobody waits any more ends without a verdict, and the next one begins anew', async () => {
    const { run, probes, answer, verdicts } = held()
    const aborted = new AbortController()
    const both = [run(aborted.signal), run(aborted.signal)]
    aborted.abort()
    expect(await Promise.all(both)).toEqual(['cancelled', 'cancelled'])
    await expect.poll(() => probes[0]?.aborted).toBe(true)
    expect(verdicts).toEqual([])
    const next = run()
    await expect.poll(() => probes.length).toBe(2)
    answer({ text: 'No.' })
    expect(await next).toBe(0)
  })

  test('a session that is aborted before it asks begins no probe', async () => {
    const { run, probes } = held()
    expect([await run(AbortSignal.abort()), probes.length]).toEqual(['cancelled', 0])
  })
})

test('a model that says nothing and hears no signal is waited for until the deadline', async () => {
  const { run, verdicts, asked } = probed(probeGets({ hangs: 'for-ever' }), { deadlineMs: 20 })
  expect(await run()).toBe('done')
  expect([verdicts, asked()?.tools]).toEqual([[], REQUEST.tools])
})

test('a model that rambles to the probe is cut short, which decides', async () => {
  const { run, verdicts } = probed(probeGets({ text: 'copper '.repeat(400), hangs: 'until-aborted' }))
  expect(await run()).toBe('done')
  expect(verdicts).toMatchObject([{ reason: 'ignored' }])
})

test.each<[ToolProbeOptions, string]>([
  [{ deadlineMs: 0 }, 'deadlineMs must be a whole number from 1 to 2147483647, not 0'],
  [{ deadlineMs: Number.NaN }, 'not NaN'],
  [{ format: 'xml' as 'llama' }, 'no call format is named "xml"; use one of hermes, json-fence, llama, brackets'],
])('%o is refused', (options, message) => {
  const make = () => withToolProbe(createScriptedModel({ steps: [] }), options)
  expect(make).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(message) as string }),
  )
})

test('a model is wrapped as its capability says', async () => {
  const make = (tools: 'native' | 'none' | 'unknown') =>
    createScriptedModel({ capabilities: { tools }, steps: () => ({ text: 'No.' }) })
  const native = make('native')
  expect(() => withToolsIfNeeded(native, { deadline: 1 } as never)).toThrow('it is called "deadlineMs" here')
  for (const tools of ['none', 'unknown'] as const)
    withToolsIfNeeded(
      { ...native, capabilities: { ...native.capabilities, tools } },
      { deadlineMs: 1000, template: '' },
    )
  expect(withToolsIfNeeded(native)).toBe(native)
  const counts = await Promise.all(
    (['none', 'unknown'] as const).map(async (tools) => {
      const inner = make(tools)
      const model = withToolsIfNeeded(inner)
      await model.run(REQUEST, () => {}, new AbortController().signal)
      return [model.capabilities.tools, inner.requests.length, inner.requests.at(-1)?.tools]
    }),
  )
  expect(counts).toEqual([
    ['native', 1, []],
    ['native', 2, []],
  ])
})

test('a verdict in words', () => {
  const words = (verdict: ToolVerdict) => describeToolVerdict('ollama/gemma', verdict)
  expect(words({ type: 'native' })).toBe('ollama/gemma: the server supports tools')
  expect(words({ type: 'prompted', reason: 'ignored', format: 'hermes' })).toBe(
    'ollama/gemma: the server ignores tools, so tools are described in the prompt (hermes)',
  )
})

test('a probe whose request was cancelled, however often, is begun anew by the next one', async () => {
  const { run, probes, verdicts } = probed((request, count) =>
    !isProbe(request) ? { text: 'done' } : count <= 3 ? { hangs: 'until-aborted' } : { calls: [CALL] },
  )
  for (let time = 1; time <= 3; time += 1) {
    const stop = new AbortController()
    const cancelled = run(REQUEST, stop.signal)
    await expect.poll(probes).toBe(time)
    stop.abort()
    expect(await cancelled).toBe('cancelled')
  }
  expect([await run(), probes(), verdicts]).toEqual(['done', 4, [{ type: 'native' }]])
})
