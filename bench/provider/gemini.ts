// The measured provider's text stream for Gemini's streamGenerateContent, with the fields of the real API and CR LF
// line ends.
import type { TextWire } from './wire.ts'

export const gemini: TextWire = {
  name: 'gemini',
  open: () => [],
  delta: (text, index) => event({ content: { parts: [{ text }], role: 'model' }, index: 0 }, index + 1),
  close: (_text, count) => [
    event({ content: { parts: [{ text: '' }], role: 'model' }, finishReason: 'STOP', index: 0 }, count),
  ],
}

function event(candidate: object, tokens: number): string {
  const usageMetadata = { promptTokenCount: 25, candidatesTokenCount: tokens, totalTokenCount: 25 + tokens }
  const answer = { candidates: [candidate], usageMetadata, modelVersion: 'mock-model', responseId: 'r1' }
  return `data: ${JSON.stringify(answer)}\r\n\r\n`
}
