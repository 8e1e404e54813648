/** `node dist/scripts/migrate.js`: creates collections and indexes. Run before each release (Procfile `release`). */
import '../src/shared/all-models.js';
import { connectMongo, disconnectMongo } from '../src/shared/mongo.js';
import { migrate } from '../src/shared/migrate.js';

await connectMongo();
await migrate();
await disconnectMongo();
console.log('Collections and indexes are ready.');
