// Pictures: what their bytes reveal, what a model is asked, and the errors if nothing can be seen.
import { createHash } from 'node:crypto'
import type { GenerateRequest, Message, ToolContext } from '@baton/core/internal'
import { createToolContext } from '@baton/core/testing'
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { startLocalServer } from '@baton/testing/local-server'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { testServiceFailures } from '../shared/service-failures.test-kit.ts'
import type { VisionOptions } from './index.ts'
import { measureImage, visionTools } from './index.ts'
import { gif, jpeg, png, webp } from './pictures.test-kit.ts'

test.each([
  ['png', png(30, 20), { mediaType: 'image/png', width: 30, height: 20, animated: false }],
  ['an animated png', png(3, 2, { animated: true }), { mediaType: 'image/png', animated: true }],
  ['jpeg', jpeg(40, 30), { mediaType: 'image/jpeg', width: 40, height: 30, animated: false }],
  ['a jpeg that is shown turned', jpeg(40, 30, 6), { width: 30, height: 40 }],
  ['gif', gif(10, 5), { mediaType: 'image/gif', width: 10, height: 5, animated: false }],
  ['an animated gif', gif(10, 5, 3), { animated: true }],
  ['webp', webp(1200, 800), { mediaType: 'image/webp', width: 1200, height: 800, animated: false }],
  ['an animated webp', webp(12, 8, { animated: true }), { animated: true }],
])('the bytes of %s tell what it is', (_, bytes, told) => {
  expect(measureImage('it', bytes)).toMatchObject({ bytes: bytes.length, ...told })
})

test.each([
  ['a text', Buffer.from('hello')],
  ['nothing', Buffer.alloc(0)],
  ['an svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['a png that ends early', png(3, 2).subarray(0, 12)],
  ['a jpeg without a size', jpeg(4, 3).subarray(0, 20)],
  ['a gif without a size', Buffer.from('GIF89a\0\0\0\0\0\0\0', 'latin1')],
])('%s is not a picture', (_, bytes) => {
  expect(() => measureImage('it', bytes)).toThrow(expect.objectContaining({ code: 'media_unsupported' }))
})

test('no end and no bytes of a picture hold the measurement up', () => {
  const failures = new Set<unknown>()
  for (const whole of [png(3, 2, { animated: true }), jpeg(4, 3), gif(10, 5, 3), webp(12, 8)])
    for (let at = 0; at < whole.length; at += 1) {
      const broken = Buffer.from(whole)
      broken[at] = (broken[at] ?? 0) ^ 0xff
      for (const bytes of [whole.subarray(0, at), broken])
        try {
          measureImage('it', bytes)
        } catch (thrown) {
          failures.add(thrown instanceof Error && Reflect.get(thrown, 'code'))
        }
    }
  expect([...failures]).toEqual(['media_unsupported'])
})

const PICTURES: Readonly<Record<string, Uint8Array>> = {
  chart: png(1200, 800),
  logo: png(64, 64),
  photo: jpeg(800, 600),
}
const readKnown = (id: string): Uint8Array | undefined => PICTURES[id]

interface Looked {
  readonly verdicts: readonly {
    readonly verdict: string
    readonly judgedBy: string
    readonly reasons: readonly string[]
  }[]
  readonly allMet: boolean
  readonly model: string | null
}

/** Runs the tool like a host, with a model that answers `said`. */
async function look(
  input: object,
  said: object = {},
  options: VisionOptions = { read: readKnown },
  change: Partial<ToolContext> = {},
) {
  const [tool] = visionTools(options)
  if (!tool?.execute || !(tool.input instanceof z.ZodType) || !(tool.output instanceof z.ZodType))
    throw new Error('no tool')
  const asked: GenerateRequest[] = []
  const generate = (async (request: GenerateRequest) => {
    asked.push(request)
    return await Promise.resolve({ text: '', value: said, model: 'one/eyes', usage: {} })
  }) as ToolContext['generate'] // the same for every schema
  const context = createToolContext({ signal: new AbortController().signal, generate, ...change })
  const result = await tool.execute(tool.input.parse(input), context)
  expect(tool.output.parse(result)).toEqual(result)
  return { result: result as Looked, asked } // checked against the schema above
}

describe('requirements that a measurement decides', () => {
  test.each([
    ['at least 800 x 600', 'met'],
    ['The image is at least 1201x600 pixels.', 'not-met'],
    ['size at most 1200 × 800 px', 'met'],
    ['exactly 1200x800', 'met'],
    ['at least 1300 pixels wide', 'not-met'],
    ['At Least 1000 Pixels Wide', 'met'],
    ['The width must be at least 800 pixels', 'met'],
    ['height >= 801', 'not-met'],
    ['a PNG', 'met'],
    ['must be a jpeg file', 'not-met'],
    ['not animated', 'met'],
    ['landscape', 'met'],
    ['The photo is square', 'not-met'],
    ['at most 2 MB', 'met'],
    ['at least 1 MiB', 'not-met'],
  ])('%s: %s, and no model is asked', async (requirement, verdict) => {
    const { result, asked } = await look({ image: 'chart', requirements: [requirement] })
    expect(result).toMatchObject({
      verdicts: [{ requirement, verdict, confidence: 1, judgedBy: 'measurement' }],
      model: null,
    })
    expect(asked).toEqual([])
  })

  test.each([
    'the logo is at least 100 x 100 pixels',
    'at least 800 x 600, and shows a lease',
    'shows a square',
    'the title is at least 20 pixels high',
    'is not a png',
  ])('%s is for a model', async (requirement) => {
    const { asked } = await look({ image: 'chart', requirements: [requirement] }, { sees: true, verdicts: [] })
    expect(asked).toHaveLength(1)
  })
})

test('a model gets the picture, the references, the measurements, and only what is not measured', async () => {
  const saw = (number: number) => ({
    number,
    verdict: 'met',
    confidence: 0.9,
    reasons: ['a key in a ring'],
    region: 'top left',
  })
  const { result, asked } = await look(
    {
      image: 'chart',
      requirements: ['contains our logo', 'at least 800 x 600', 'is friendly', 'is in colour'],
      referenceImages: ['logo'],
    },
    { sees: true, verdicts: [saw(2), saw(1)] },
    { read: readKnown, model: 'one/eyes' },
  )
  expect(result).toMatchObject({
    verdicts: [
      { requirement: 'contains our logo', verdict: 'met', judgedBy: 'model', region: 'top left' },
      { requirement: 'at least 800 x 600', verdict: 'met', judgedBy: 'measurement' },
      { requirement: 'is friendly', verdict: 'met' },
      { requirement: 'is in colour', verdict: 'unclear', confidence: 0, reasons: ['the model said nothing about it'] },
    ],
    allMet: false,
    model: 'one/eyes',
    referenceImages: [{ name: 'logo', width: 64 }],
  })
  const base64 = (name: string) => Buffer.from(PICTURES[name] ?? []).toString('base64')
  expect(asked).toMatchObject([
    {
      model: 'one/eyes',
      prompt: [
        { type: 'text', text: expect.stringContaining('"width":1200,"height":800') },
        { type: 'image', mediaType: 'image/png', source: { data: base64('chart') } },
        { type: 'text', text: expect.stringContaining('Reference picture 1') },
        { type: 'image', source: { data: base64('logo') } },
        {
          type: 'text',
          text: 'Requirements of the first picture:\n1. contains our logo\n2. is friendly\n3. is in colour',
        },
      ],
    },
  ])
})

test('a model that was shown no picture decides nothing', async () => {
  const blind = look({ image: 'chart', requirements: ['shows a cat'] }, { sees: false, verdicts: [] })
  await expect(blind).rejects.toMatchObject({ code: 'media_unsupported', message: expect.stringContaining('one/eyes') })
})

describe('pictures are named', () => {
  const requirements = ['at least 1 x 1']
  const message = (data: Uint8Array): Message => ({
    role: 'user',
    parts: [
      { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: Buffer.from(data).toString('base64') } },
    ],
  })

  test('as pictures of the conversation, the newest or by handle', async () => {
    const messages = () => Promise.resolve([message(png(10, 10)), message(png(20, 20))])
    const handle = createHash('sha256').update(png(10, 10)).digest('hex')
    for (const [image, width] of [
      ['media:latest', 20],
      [`media:${handle}`, 10],
    ] as const)
      expect((await look({ image, requirements }, {}, {}, { messages })).result).toMatchObject({ image: { width } })
    const none = look({ image: 'media:latest', requirements })
    await expect(none).rejects.toMatchObject({ code: 'context_missing', message: 'this conversation has no picture' })
  })

  test('as the newest one, also if the conversation holds only its address', async () => {
    const site = await startLocalServer(() => ({ body: png(7, 5) }))
    onTestFinished(site.close)
    const sent = (url: string): Message => ({
      role: 'user',
      parts: [{ type: 'image', mediaType: 'image/png', source: { type: 'url', url } }],
    })
    const options = { guard: { allow: [site.url] } }
    for (const [url, width] of [
      [`${site.url}/x`, 7],
      [`data:image/png;base64,${png(9, 9).toString('base64')}`, 9],
    ] as const) {
      const messages = () => Promise.resolve([message(png(10, 10)), sent(url)])
      for (const [image, wide] of [
        ['media:latest', width],
        ['media:latest-1', 10],
      ] as const)
        expect((await look({ image, requirements }, {}, options, { messages })).result).toMatchObject({
          image: { width: wide },
        })
    }
  })

  test('by their address, whatever type is said there', async () => {
    const site = await startLocalServer(() => ({ headers: { 'content-type': 'text/plain' }, body: png(7, 5) }))
    onTestFinished(site.close)
    const options = { guard: { allow: [site.url] }, read: () => `${site.url}/known` }
    for (const image of [`${site.url}/x`, 'known'])
      expect((await look({ image, requirements }, {}, options)).result).toMatchObject({
        image: { width: 7, mediaType: 'image/png' },
      })
    await expect(look({ image: 'http://127.0.0.1:1/x', requirements })).rejects.toMatchObject({ code: 'url_refused' })
  })

  test('by ids that the program knows, within the limit of bytes', async () => {
    await expect(look({ image: 'nothing', requirements })).rejects.toMatchObject({ code: 'context_missing' })
    const small = look({ image: 'chart', requirements }, {}, { read: readKnown, maxBytes: 100 })
    await expect(small).rejects.toMatchObject({ code: 'input_too_large' })
  })
})

test('over a host: a picture that a person sent is found as the newest one', async () => {
  const model = createScriptedModel({
    steps: [
      {
        calls: [
          {
            name: 'analyze_image_for_visual_requirements',
            arguments: { image: 'media:latest', requirements: ['at least 30 x 20', 'landscape'] },
          },
        ],
      },
      { text: 'It is large enough.' },
    ],
  })
  const host = createHost({ agent: defineAgent({ name: 'judge', model, tools: [...visionTools()] }) })
  onTestFinished(() => host.stop())
  const session = await host.session('one')
  const data = png(30, 20).toString('base64')
  const turn = session.send([
    { type: 'text', text: 'Is it large enough?' },
    { type: 'image', mediaType: 'image/png', source: { type: 'base64', data } },
  ])
  const results: unknown[] = []
  for await (const event of turn) if (event.type === 'call' && event.call.result) results.push(event.call.result)
  expect(results).toMatchObject([
    { type: 'ok', value: { image: { width: 30, height: 20 }, allMet: true, model: null } },
  ])
})

test('over a host: an answer of another shape is asked for again, and what was asked counts', async () => {
  const usage = { inputTokens: 1000, outputTokens: 10 }
  const verdicts = [{ number: 1, verdict: 'not-met', confidence: 0.8, reasons: ['there is no logo'], region: null }]
  const model = createScriptedModel({
    steps: [
      {
        calls: [
          { name: 'analyze_image_for_visual_requirements', arguments: { image: 'chart', requirements: ['our logo'] } },
        ],
      },
      { text: 'I see no logo.', usage },
      { text: JSON.stringify({ sees: true, verdicts }), usage },
      { text: 'No logo.' },
    ],
  })
  const host = createHost({
    agent: defineAgent({ name: 'judge', model, tools: [...visionTools({ read: readKnown })] }),
  })
  onTestFinished(() => host.stop())
  const session = await host.session('one')
  const answer = await session.send('Look.').answer
  expect(answer.usage).toMatchObject({ inputTokens: 2000 })
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('there is no logo')
})

test.each([
  [{ reed: () => undefined }, 'reed'],
  [{ maxBytes: -1 }, 'maxBytes'],
  [{ model: 7 }, 'model'],
])('the options %j are refused: %s', (options, message) => {
  expect(() => visionTools(options as VisionOptions)).toThrow(message) // wrong on purpose
})

const NO_PICTURE = 'media_unsupported'
testServiceFailures({
  name: 'a picture at an address',
  open: (origin, limits) => ({
    tools: visionTools({ ...limits, guard: { allow: [origin] } }),
    calls: [
      { name: 'analyze_image_for_visual_requirements', input: { image: `${origin}/a.png`, requirements: ['a png'] } },
    ],
  }),
  differs: { 'not JSON': NO_PICTURE, 'a web page': NO_PICTURE, 'JSON of another shape': NO_PICTURE, null: NO_PICTURE },
})

test('a model without a key is an error that the tool names, and says what to set', async () => {
  vi.stubEnv('ANTHROPIC_API_KEY', undefined)
  onTestFinished(() => void vi.unstubAllEnvs())
  const [looks] = visionTools({ model: 'anthropic/claude-haiku-4-5', read: readKnown })
  const call = { name: 'analyze_image_for_visual_requirements', arguments: { image: 'logo', requirements: ['is red'] } }
  const model = createScriptedModel({ steps: [{ calls: [call] }, { text: 'I cannot look.' }] })
  await using host = createHost({
    agent: defineAgent({ name: 'judge', model, tools: looks ? [looks] : [] }),
  })
  const session = await host.session('contest')
  for await (const event of session.send('Look.')) {
    if (event.type !== 'call' || event.call.result?.type !== 'error') continue
    const { code, message } = event.call.result
    expect(looks?.errors).toContain(code)
    expect(message).toContain('set ANTHROPIC_API_KEY')
    return
  }
  expect.unreachable('the call did not fail')
})
