// A picture is judged by requirements: its size is measured, and a model, played by a script here, judges what it
// shows.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { visionTools } from '@baton/kits/vision'

const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
)
const seen = { number: 1, verdict: 'met', confidence: 0.95, reasons: ['all of it is red'], region: 'everywhere' }
const model = createScriptedModel({
  steps: [
    {
      calls: [
        {
          name: 'analyze_image_for_visual_requirements',
          arguments: { image: 'entry-7', requirements: ['at least 800 x 600', 'is red'] },
        },
      ],
    },
    { text: JSON.stringify({ sees: true, verdicts: [seen] }) },
    { text: 'It is red, but too small.' },
  ],
})
const tools = visionTools({ read: (id) => (id === 'entry-7' ? dot : undefined) })
const host = createHost({ agent: defineAgent({ name: 'judge', model, tools }) })
const session = await host.session('contest')
for await (const event of session.send('Does entry-7 meet the requirements?')) {
  if (event.type !== 'call' || event.call.result?.type !== 'ok') continue
  console.log(JSON.stringify(event.call.result.value, null, 1))
}
await host.stop()
