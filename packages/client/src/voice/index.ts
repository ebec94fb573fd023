// Exports of @baton/client/voice: a voice for a session of version 2, and speakers for it.
export { createVoice } from './voice.ts'
export type {
  Utterance,
  Voice,
  VoiceClient,
  VoiceEvents,
  VoiceOptions,
  VoiceSnapshot,
  VoiceState,
} from './voice-api.ts'
export type { Speaker, SpeakOptions } from './speaker.ts'
export { createSilentSpeaker } from './silent-speaker.ts'
export type { SilentSpeakerOptions } from './silent-speaker.ts'
export { createBrowserSpeaker } from './browser-speaker.ts'
export type { BrowserSpeakerOptions } from './browser-speaker.ts'
export type { BoundaryEvent, SynthesisLike, UtteranceLike, VoiceLike } from './synthesis.ts'
export { countWords, estimateSpeechMs, listWordEnds } from './speech-time.ts'
