/** Loads every model, so that migrations see all of them. */
import '../accounts/account.model.js';
import '../accounts/api-key.model.js';
import '../audit/audit.model.js';
import '../operators/operator.model.js';
import '../products/offer.model.js';
import '../products/product.model.js';
import '../providers/provider-state.model.js';
import '../settlements/settlement.model.js';
import '../transactions/attempt.model.js';
import '../transactions/case.model.js';
import '../transactions/seller-credit.model.js';
import '../transactions/transaction.model.js';
import '../wallets/deposit.model.js';
import '../wallets/journal.model.js';
import '../wallets/wallet.model.js';
import '../webhooks/delivery.model.js';
import '../webhooks/receiver.model.js';
