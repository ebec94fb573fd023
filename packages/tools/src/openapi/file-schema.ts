// How a model gives a file to an operation: the name of an existing one, or its content.
import type { JsonObject } from '@baton/core'

export const FILE_SCHEMA: JsonObject = {
  description:
    'A file: media:latest for the newest picture or file in this conversation, media:latest-1 for the one before it, the name of a file or an id that you were given; or an object with its content.',
  anyOf: [
    { type: 'string', minLength: 1, maxLength: 4000 },
    {
      type: 'object',
      properties: {
        media: {
          type: 'string',
          description: 'An existing file, named as above, to send under another name or type',
        },
        text: { type: 'string', description: 'The content, if it is text' },
        base64: { type: 'string', description: 'The content, if it is not text' },
        name: { type: 'string', maxLength: 200, description: 'The file name, such as report.csv' },
        mediaType: { type: 'string', maxLength: 200, description: 'Such as text/csv' },
      },
      additionalProperties: false,
    },
  ],
}
