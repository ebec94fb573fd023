// By which codes and words providers say that they refuse an image, a file or a text for its own sake. Without one of them it
// is an invalid request like any other.

/** Of OpenAI and Azure; they stand beside the type `invalid_request_error`, or without a type. */
const CODES: ReadonlySet<string> = new Set([
  // ResponseError of openai 7.57; invalid_image_format also over Chat Completions (STranslate/STranslate#277).
  'invalid_image',
  'invalid_image_format',
  'invalid_base64_image',
  'invalid_image_url',
  'image_too_large',
  'image_too_small',
  'image_parse_error',
  'image_content_policy_violation',
  'image_file_too_large',
  'unsupported_image_media_type',
  'empty_image_file',
  'image_file_not_found',
  'bio_policy',
  'misalignment_policy_violation',
  // Azure: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy." (openai-python#331)
  'content_filter',
])

/** Characters of a message that are looked at. */
const MESSAGE_CHARS = 8 * 1024

/** Literals as seen. */
const WORDS = [
  // Anthropic, also behind Bedrock: "…image.source.base64: image exceeds 5 MB maximum: 15908784 bytes > 5242880 bytes"
  // (anthropics/claude-code#10612)
  /image exceeds [\d.]+ MB maximum/i,
  // "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels" (claude-code#9375)
  /image (?:dimensions )?exceed max allowed size/i,
  /could not process (?:image|pdf)/i, // Anthropic (claude-code#46127, anthropic-sdk-python#903)
  /image format \S+ not supported/i, // Anthropic: "Image format image/png not supported" (claude-code#42399)
  /a maximum of \d+ pdf pages may be provided/i, // Anthropic (claude-code#5707)
  /unable to process input image/i, // Gemini (pollinations/pollinations#4157)
  /provided image is not valid/i, // Gemini (lumina-ai-inc/chunkr#341)
  /the document has no pages/i, // Gemini (google-gemini/gemini-cli#13808)
  /you uploaded an unsupported image/i, // OpenAI (CosmosShadow/gptpdf#6)
  /image data you provided does not represent a valid image/i, // OpenAI Responses (openai/codex#4946)
]

export function saysContentRefused(said: {
  readonly message: string
  readonly type?: string
  readonly code?: string
}): boolean {
  const { message, type, code } = said
  if ((code !== undefined && CODES.has(code)) || (type !== undefined && CODES.has(type))) return true
  return WORDS.some((pattern) => pattern.test(message.slice(0, MESSAGE_CHARS)))
}
