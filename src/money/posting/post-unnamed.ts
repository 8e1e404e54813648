import { UnknownOutcomeError } from '../../database/mongo.js';
import { DependencyError } from '../../shared/errors.js';
import type { Message } from '../../shared/say.js';
import { post } from './post.js';
import type { Posting, PostingResult } from './posting.js';

/**
 * `post`, for what its caller cannot name: the same request again would be another one, so whoever does not know the
 * outcome is not told to repeat it.
 * @param advice What is not known, and where to look first.
 * @throws DependencyError
 */
export async function postWithoutKey(posting: Posting, advice: Message): Promise<PostingResult> {
  try {
    return await post(posting);
  } catch (error) {
    throw error instanceof UnknownOutcomeError ? new DependencyError(error, advice) : error;
  }
}
