// A conversation that fills the page: long words, code, many calls, an approval. Used by tests and for pictures.
import type { ScriptedStep } from '@baton/core/testing'
import { tool } from '@baton/core'
import type { Page } from 'playwright-core'
import chatAgent from './agent.ts'
import { call, say } from './chat-web.test-kit.ts'

export const TOUR_TOOLS = [
  ...chatAgent.tools,
  ...['Rome', 'Oslo', 'Lima'].map((place) =>
    tool({
      name: `weather.${place.toLowerCase()}`,
      description: 'the weather',
      input: { type: 'object', properties: { day: { type: 'string' } } },
      effect: 'pure',
      title: `Weather in ${place}`,
      execute: () => ({ sky: 'clear', celsius: 21 }),
    }),
  ),
]

const TOUR_TEXT = `Clear sky everywhere, 21 °C. You can ask for it yourself:

\`\`\`sh
for place in rome oslo lima; do
  curl -s "https://weather.example/v1/places/$place/forecast?day=sunday&units=metric&language=en"
done
\`\`\`
I pin what matters, and keep a note if you agree.`

export const TOUR_STEPS: readonly ScriptedStep[] = [
  {
    reasoning: 'Three places, then the mildest one.',
    text: 'I ask for all three places at once.',
    calls: ['rome', 'oslo', 'lima'].map((place) => call(`weather.${place}`, { day: 'Sunday' })),
  },
  {
    text: TOUR_TEXT,
    calls: [
      call('page.notice', { text: 'Sunday: clear, 21 °C' }),
      call('note.save', { text: 'Sunday: Rome, Oslo or Lima' }),
    ],
  },
  { text: 'Saved. Have a good Sunday!' },
]

/** Plays the conversation up to the approval. */
export async function walkTour(page: Page): Promise<void> {
  await say(page, 'Where is the weather best on Sunday: Rome, Oslo or Lima?')
  await page.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Send' }).waitFor()
}
