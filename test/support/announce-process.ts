/**
 * Sends a cache invalidation to the processes of a stack and exits after they have acknowledged it.
 */
import { AccountModel } from '../../src/accounts/account.model.js';
import { ApiKeyModel } from '../../src/accounts/api-key.model.js';
import { OfferModel } from '../../src/products/offer.model.js';
import { ProductModel } from '../../src/products/product.model.js';
import { ProviderStateModel } from '../../src/providers/provider-state.model.js';
import { writeAndInvalidate } from '../../src/redis/publish-changes.js';
import { connectRedis, disconnectRedis } from '../../src/redis/connection.js';

void main();

async function main(): Promise<void> {
  await connectRedis();
  await writeAndInvalidate(
    [AccountModel, ApiKeyModel, OfferModel, ProductModel, ProviderStateModel],
    null,
    () => Promise.resolve(),
  );
  await disconnectRedis();
}
