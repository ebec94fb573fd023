// Addresses of Gemini: the Gemini API with a key, or Vertex AI in a project with a Google Cloud access token.
import type { AbortSignalLike } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { askInTime } from '../transport/ask-in-time.ts'

export const GEMINI_BASE_URL = 'https://generativelanguage.googleapis.com'

export interface GeminiApiAccess {
  readonly type: 'gemini-api'
  readonly apiKey: string
}

export interface VertexAccess {
  readonly type: 'vertex'
  readonly project: string
  /** `global` by default. */
  readonly location?: string
  /** An OAuth 2 token. A function is called for every request, because tokens last an hour, and has 10 s to return. */
  readonly accessToken: string | (() => string | Promise<string>)
}

export type GeminiAccess = GeminiApiAccess | VertexAccess

/** Accepts `https://host` and `https://host/v1beta`, which mean the same. */
export function streamUrl(model: string, access: GeminiAccess, baseUrl?: string): string {
  const base = withVersion(baseUrl ?? buildBase(access), access.type === 'vertex' ? 'v1' : 'v1beta')
  return `${base}/${[...buildParent(access), ...readName(model, access)].map(encodeURIComponent).join('/')}:streamGenerateContent?alt=sse`
}

/** @throws BatonError `model_auth_failed` if no token is returned within 10 s, `cancelled` */
export async function authorization(
  access: GeminiAccess,
  signal: AbortSignalLike,
): Promise<Readonly<Record<string, string>>> {
  // Sent in a header, because proxies log addresses.
  if (access.type === 'gemini-api') return { 'x-goog-api-key': access.apiKey }
  const { accessToken } = access
  if (typeof accessToken === 'string') return { authorization: `Bearer ${accessToken}` }
  const refuse = (why: string, cause?: unknown) =>
    new BatonError({ code: 'model_auth_failed', message: `could not get a token from Google Cloud: ${why}`, cause })
  return { authorization: `Bearer ${await askInTime(accessToken, { signal, refuse })}` }
}

function buildBase(access: GeminiAccess): string {
  if (access.type === 'gemini-api') return GEMINI_BASE_URL
  const location = access.location ?? 'global'
  return location === 'global' ? 'https://aiplatform.googleapis.com' : `https://${location}-aiplatform.googleapis.com`
}

function withVersion(baseUrl: string, version: string): string {
  const base = baseUrl.replace(/\/+$/, '')
  return /\/v\d\w*$/.test(base) ? base : `${base}/${version}`
}

function buildParent(access: GeminiAccess): readonly string[] {
  return access.type === 'vertex' ? ['projects', access.project, 'locations', access.location ?? 'global'] : []
}

/** For example `gemini-2.5-flash`, or a path such as `tunedModels/x`, `models/x`, `endpoints/x`. */
function readName(model: string, access: GeminiAccess): readonly string[] {
  const steps = model.split('/').filter((step) => step !== '' && step !== '.' && step !== '..')
  if (steps.length > 1) return steps
  return access.type === 'vertex' ? ['publishers', 'google', 'models', ...steps] : ['models', ...steps]
}
