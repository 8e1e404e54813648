module topup.example/webhook

go 1.19
